//===- KernelBuilder.cpp - Short names for kernel code --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope::cpu;

IndexLike::IndexLike(OpFoldResult folded) {
  if (std::optional<int64_t> constant = getConstantIntValue(folded))
    number = *constant;
  else
    value = cast<Value>(folded);
}

std::optional<int64_t> IndexLike::getNumber() const {
  if (!value)
    return number;
  return getConstantIntValue(value);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(IndexLike x) {
  return x.value ? x.value : arith::ConstantIndexOp::create(*this, x.number);
}

Value KernelBuilder::plus(IndexLike a, IndexLike b) {
  return fold<arith::AddIOp>(a, b);
}
Value KernelBuilder::minus(IndexLike a, IndexLike b) {
  return fold<arith::SubIOp>(a, b);
}
Value KernelBuilder::times(IndexLike a, IndexLike b) {
  return fold<arith::MulIOp>(a, b);
}
Value KernelBuilder::quotient(IndexLike a, IndexLike b) {
  return fold<arith::DivUIOp>(a, b);
}
Value KernelBuilder::remainder(IndexLike a, IndexLike b) {
  return fold<arith::RemUIOp>(a, b);
}
Value KernelBuilder::quotientUp(IndexLike a, IndexLike b) {
  return quotient(plus(a, minus(b, 1)), b);
}
Value KernelBuilder::lesser(IndexLike a, IndexLike b) {
  return fold<arith::MinSIOp>(a, b);
}
Value KernelBuilder::greater(IndexLike a, IndexLike b) {
  return fold<arith::MaxSIOp>(a, b);
}
Value KernelBuilder::isLess(IndexLike a, IndexLike b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, index(a),
                                     index(b));
}
Value KernelBuilder::isEqual(IndexLike a, IndexLike b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, index(a),
                                     index(b));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Value KernelBuilder::condition(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value KernelBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return createOrFold<arith::AndIOp>(a, b);
}
Value KernelBuilder::either(Value a, Value b) {
  return createOrFold<arith::OrIOp>(a, b);
}
Value KernelBuilder::isNot(Value a) {
  return createOrFold<arith::XOrIOp>(a, condition(true));
}
Value KernelBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value KernelBuilder::number(double value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(value));
}
Value KernelBuilder::numbers(double value) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(getFloats(), static_cast<float>(value)));
}
Value KernelBuilder::integers(int32_t value) {
  return arith::ConstantOp::create(*this,
                                   DenseElementsAttr::get(getInts(), value));
}
Value KernelBuilder::iota(int64_t first) {
  SmallVector<int32_t> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(static_cast<int32_t>(first + i));
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(getInts(), ArrayRef<int32_t>(values)));
}
Value KernelBuilder::broadcast(Value scalar) {
  auto type = VectorType::get(lanes, scalar.getType());
  return vector::BroadcastOp::create(*this, type, scalar);
}

Value KernelBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value KernelBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value KernelBuilder::mul(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value KernelBuilder::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(*this, a, b, c);
}
Value KernelBuilder::addInts(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}
Value KernelBuilder::andInts(Value a, Value b) {
  return arith::AndIOp::create(*this, a, b);
}
Value KernelBuilder::shiftLeft(Value a, int32_t bits) {
  return arith::ShLIOp::create(*this, a, integers(bits));
}
Value KernelBuilder::toBits(Value floats) {
  return arith::BitcastOp::create(*this, getInts(), floats);
}
Value KernelBuilder::fromBits(Value ints) {
  return arith::BitcastOp::create(*this, getFloats(), ints);
}
Value KernelBuilder::isGreater(Value a, Value b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
}
Value KernelBuilder::maxOrSecond(Value a, Value b) {
  return arith::SelectOp::create(*this, isGreater(a, b), a, b);
}

Value KernelBuilder::any(Value conditions) {
  // As one number: a test of the mask register.
  Type bits = getIntegerType(lanes);
  Value cast =
      vector::BitCastOp::create(*this, VectorType::get(1, bits), conditions);
  Value word = vector::ExtractOp::create(*this, cast, 0);
  Value none = arith::ConstantOp::create(*this, getIntegerAttr(bits, 0));
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, word, none);
}

Value KernelBuilder::sumOfLanes(Value floats) {
  return vector::ReductionOp::create(*this, vector::CombiningKind::ADD, floats,
                                     arith::FastMathFlags::reassoc);
}
Value KernelBuilder::maxOfLanes(Value floats) {
  return vector::ReductionOp::create(*this, vector::CombiningKind::MAXNUMF,
                                     floats);
}

/// The type of `like` with other elements.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

Value KernelBuilder::toF32(Value x) {
  Type type = withElement(x.getType(), getF32Type());
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  if (width < 32)
    return arith::ExtFOp::create(*this, type, x);
  return width == 32 ? x : arith::TruncFOp::create(*this, type, x);
}

Value KernelBuilder::fromF32(Value x, Type element) {
  Type type = withElement(x.getType(), element);
  unsigned width = element.getIntOrFloatBitWidth();
  if (width < 32)
    return arith::TruncFOp::create(*this, type, x);
  return width == 32 ? x : arith::ExtFOp::create(*this, type, x);
}

Value KernelBuilder::pad(Value row, int64_t length) {
  auto type = cast<VectorType>(row.getType());
  if (type.getNumElements() == length)
    return row;
  Value zeros = arith::ConstantOp::create(
      *this, getZeroAttr(VectorType::get(length, type.getElementType())));
  return vector::InsertStridedSliceOp::create(
      *this, row, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::indices(ArrayRef<IndexLike> at) {
  return llvm::map_to_vector(at, [&](IndexLike x) { return index(x); });
}
Value KernelBuilder::load(Value memref, ArrayRef<IndexLike> at) {
  return memref::LoadOp::create(*this, memref, indices(at));
}
void KernelBuilder::store(Value x, Value memref, ArrayRef<IndexLike> at) {
  memref::StoreOp::create(*this, x, memref, indices(at));
}
Value KernelBuilder::loadVector(Value memref, ArrayRef<IndexLike> at,
                                int64_t count) {
  auto type = VectorType::get(count ? count : lanes,
                              getElementTypeOrSelf(memref.getType()));
  return vector::LoadOp::create(*this, type, memref, indices(at));
}
void KernelBuilder::storeVector(Value x, Value memref, ArrayRef<IndexLike> at) {
  vector::StoreOp::create(*this, x, memref, indices(at));
}
Value KernelBuilder::reserve(ArrayRef<int64_t> shape, Type element) {
  auto type = MemRefType::get(shape, element);
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  reservedBytes += type.getNumElements() * bits / 8;
  return memref::AllocaOp::create(*this, type, getI64IntegerAttr(64));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::loop(IndexLike from, IndexLike to,
                                       int64_t step, ValueRange inits,
                                       LoopBody body) {
  auto loop =
      scf::ForOp::create(*this, index(from), index(to), index(step), inits);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(*this, results);
  return loop.getResults();
}

void KernelBuilder::loop(IndexLike from, IndexLike to, int64_t step,
                         function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
KernelBuilder::repeat(ValueRange inits,
                      function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(*this, inits.getTypes(), inits);
  SmallVector<Location> locs(inits.size(), getLoc());
  OpBuilder::InsertionGuard guard(*this);
  Block *before = createBlock(&loop.getBefore(), {}, inits.getTypes(), locs);
  SmallVector<Value> results = body(before->getArguments());
  scf::ConditionOp::create(*this, results.front(),
                           ArrayRef<Value>(results).drop_front());
  Block *after = createBlock(&loop.getAfter(), {}, inits.getTypes(), locs);
  scf::YieldOp::create(*this, after->getArguments());
  return loop.getResults();
}

void KernelBuilder::when(Value condition, function_ref<void()> then) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
}

void KernelBuilder::shareInTeam(Value end, int64_t step,
                                function_ref<void(Value)> body,
                                Sharing sharing) {
  auto toI64 = [&](Value x) -> Value {
    return arith::IndexCastOp::create(*this, getI64Type(), x);
  };
  omp::WsloopOperands clauses;
  clauses.scheduleKind = omp::ClauseScheduleKindAttr::get(
      getContext(), sharing == Sharing::Free ? omp::ClauseScheduleKind::Dynamic
                                             : omp::ClauseScheduleKind::Static);
  omp::LoopNestOperands range;
  range.loopLowerBounds = {toI64(index(0))};
  range.loopUpperBounds = {toI64(end)};
  range.loopSteps = {toI64(index(step))};
  auto sharedLoop = omp::WsloopOp::create(*this, clauses);
  OpBuilder::InsertionGuard guard(*this);
  createBlock(&sharedLoop.getRegion());
  auto nest = omp::LoopNestOp::create(*this, range);
  Block *block = createBlock(&nest.getRegion(), {}, {getI64Type()}, {getLoc()});
  body(
      arith::IndexCastOp::create(*this, getIndexType(), block->getArgument(0)));
  omp::YieldOp::create(*this);
}

void KernelBuilder::share(Value end, int64_t step, Value pays,
                          function_ref<void(function_ref<void()>)> member,
                          function_ref<void(Value)> body, Sharing sharing) {
  if (!threads)
    return member([&] { loop(0, end, step, body); });
  omp::ParallelOperands team;
  team.ifExpr = pays;
  auto parallel = omp::ParallelOp::create(*this, team);
  OpBuilder::InsertionGuard guard(*this);
  createBlock(&parallel.getRegion());
  member([&] { shareInTeam(end, step, body, sharing); });
  omp::TerminatorOp::create(*this);
}

static constexpr StringLiteral kThreadCount = "omp_get_max_threads";

LogicalResult rope::cpu::declareThreadCount(Operation *op) {
  OpBuilder builder(op->getContext());
  FunctionType type = builder.getFunctionType({}, builder.getI32Type());
  Operation *module = SymbolTable::getNearestSymbolTable(op);
  if (Operation *known = SymbolTable::lookupSymbolIn(module, kThreadCount)) {
    auto function = dyn_cast<func::FuncOp>(known);
    if (function && function.isExternal() && function.getFunctionType() == type)
      return success();
    InFlightDiagnostic error = op->emitOpError()
                               << "wants @" << kThreadCount
                               << " to be a declared function of type " << type;
    error.attachNote(known->getLoc()) << "this has its name";
    return error;
  }
  builder.setInsertionPointToStart(&module->getRegion(0).front());
  func::FuncOp::create(builder, op->getLoc(), kThreadCount, type).setPrivate();
  return success();
}

Value KernelBuilder::countThreads() {
  Value count =
      func::CallOp::create(*this, kThreadCount, getI32Type()).getResult(0);
  return arith::IndexCastOp::create(*this, getIndexType(), count);
}

SmallVector<Value> KernelBuilder::choose(Value condition, TypeRange types,
                                         Branch then, Branch otherwise) {
  auto op = scf::IfOp::create(*this, types, condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(*this);
  for (auto [block, branch] :
       {std::pair(op.thenBlock(), then), {op.elseBlock(), otherwise}}) {
    setInsertionPointToStart(block);
    SmallVector<Value> results = branch();
    scf::YieldOp::create(*this, results);
  }
  return op.getResults();
}
