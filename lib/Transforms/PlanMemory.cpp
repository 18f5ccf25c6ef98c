//===- PlanMemory.cpp - One buffer for all of a function ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-plan-memory. Lifetimes are positions in the first block of
// the function: an op in a loop counts as the loop. Buffers are placed first
// fit, the largest first.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;

// A cache line, and the widest vector.
static constexpr int64_t kAlignment = 64;
// That of destructors in C.
static constexpr int32_t kDefaultPriority = 65535;

namespace {
// An allocation and the ops of the block from the first to the last that may
// touch it.
struct Buffer {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  MemRefType type;
  int64_t size = 0;
  int64_t offset = 0;
  unsigned number = 0, first = 0, last = 0;

  bool overlaps(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
  int64_t end() const { return offset + size; }
};

class BufferCollector {
public:
  explicit BufferCollector(func::FuncOp function)
      : block(function.front()), flow(function),
        layout(DataLayout::closest(function)) {
    for (auto [i, op] : llvm::enumerate(block))
      position[&op] = i;
  }

  SmallVector<Buffer> collect() {
    SmallVector<Buffer> buffers;
    for (auto alloc : block.getOps<memref::AllocOp>()) {
      Buffer buffer;
      buffer.alloc = alloc;
      buffer.number = buffers.size();
      if (measure(buffer) && findLifetime(buffer))
        buffers.push_back(buffer);
    }
    return buffers;
  }

private:
  bool measure(Buffer &buffer);
  bool findLifetime(Buffer &buffer);

  Block &block;
  BufferViewFlowAnalysis flow;
  DataLayout layout;
  DenseMap<Operation *, unsigned> position;
};
} // namespace

// Fails if the size is not known, or not all that matters.
bool BufferCollector::measure(Buffer &buffer) {
  memref::AllocOp alloc = buffer.alloc;
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
      !type.getElementType().isIntOrIndexOrFloat() ||
      alloc.getAlignment().value_or(1) > kAlignment)
    return false;
  SmallVector<int64_t> shape;
  for (OpFoldResult size : alloc.getMixedSizes())
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  if (ShapedType::isDynamicShape(shape))
    return false;
  buffer.type = MemRefType::get(shape, type.getElementType());
  // No less than the distance of elements, which LLVM aligns.
  int64_t bytes = llvm::PowerOf2Ceil(layout.getTypeSize(type.getElementType()));
  buffer.size = llvm::alignTo(buffer.type.getNumElements() * bytes, kAlignment);
  return buffer.size != 0;
}

static bool isNumber(Type type) {
  return getElementTypeOrSelf(type).isIntOrIndexOrFloat() &&
         (isa<VectorType>(type) || type.isIntOrIndexOrFloat());
}

// Whether control flow into the op and out of it is what analyses follow, up to
// the block.
static bool isFollowed(Operation *op, Block &block) {
  for (; op->getBlock() != &block; op = op->getParentOp())
    if (!isa<RegionBranchOpInterface>(op->getParentOp()))
      return false;
  return true;
}

// Whether the address of a buffer that the op takes may go where no analysis
// follows it.
static bool losesTrack(Operation *op, Value buffer,
                       const BufferViewFlowAnalysis::ValueSetT &aliases) {
  if (!op->isRegistered() ||
      isa<memref::ExtractAlignedPointerAsIndexOp, memref::ReallocOp>(op))
    return true;
  if (auto store = dyn_cast<memref::StoreOp>(op))
    if (store.getValueToStore() == buffer)
      return true;
  return llvm::any_of(op->getResults(), [&](Value result) {
    return !isNumber(result.getType()) && !aliases.contains(result);
  });
}

// Fails unless the function frees the buffer, once and in any case.
bool BufferCollector::findLifetime(Buffer &buffer) {
  Value memory = buffer.alloc;
  buffer.first = buffer.last = position[buffer.alloc];
  bool used = false;
  auto aliases = flow.resolve(memory);
  for (Value alias : aliases) {
    for (Operation *user : alias.getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
        if (alias != memory || ancestor != user || buffer.dealloc)
          return false;
        buffer.dealloc = dealloc;
        continue;
      }
      if (!ancestor || user == block.getTerminator() ||
          !isFollowed(user, block) || losesTrack(user, alias, aliases))
        return false;
      unsigned at = position[ancestor];
      buffer.first = used ? std::min(buffer.first, at) : at;
      buffer.last = used ? std::max(buffer.last, at) : at;
      used = true;
    }
  }
  return buffer.dealloc != nullptr;
}

// Chooses the offsets; returns the size of it all.
static int64_t placeBuffers(MutableArrayRef<Buffer> buffers) {
  llvm::sort(buffers, [](const Buffer &a, const Buffer &b) {
    return std::pair(b.size, a.number) < std::pair(a.size, b.number);
  });
  int64_t total = 0;
  SmallVector<const Buffer *> placed;
  for (Buffer &buffer : buffers) {
    // In the order of their offsets.
    for (const Buffer *other : placed) {
      if (!buffer.overlaps(*other))
        continue;
      if (buffer.end() <= other->offset)
        break;
      buffer.offset = std::max(buffer.offset, other->end());
    }
    auto *at = llvm::upper_bound(
        placed, &buffer,
        [](const Buffer *a, const Buffer *b) { return a->offset < b->offset; });
    placed.insert(at, &buffer);
    total = std::max(total, buffer.end());
  }
  return total;
}

static void replaceBuffer(Buffer buffer, Value memory) {
  OpBuilder builder(buffer.alloc);
  Location loc = buffer.alloc.getLoc();
  Value shift = arith::ConstantIndexOp::create(builder, loc, buffer.offset);
  Value view = memref::ViewOp::create(builder, loc, buffer.type, memory, shift,
                                      ValueRange());
  if (view.getType() != buffer.alloc.getType())
    view = memref::CastOp::create(builder, loc, buffer.alloc.getType(), view);
  buffer.alloc.getResult().replaceAllUsesWith(view);
  buffer.dealloc->erase();
  buffer.alloc->erase();
}

//===----------------------------------------------------------------------===//
// Memory that outlives a call
//===----------------------------------------------------------------------===//

namespace {
// A block of memory that a function takes from a global and puts back.
class KeptMemory {
public:
  KeptMemory(func::FuncOp function, int64_t size)
      : module(function->getParentOfType<ModuleOp>()),
        builder(&function.front(), function.front().begin()),
        loc(function.getLoc()), size(size),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        index(builder.getIntegerType(
            DataLayout::closest(function)
                .getTypeIndexBitwidth(builder.getIndexType())
                .value_or(64))),
        name((Twine("rope_memory_of_") + function.getName()).str()) {}

  /// Takes the block, or allocates one if there is none. Fails if the module
  /// has functions of its own in place of malloc and free.
  FailureOr<Value> take();
  /// Puts the block back and frees what another call has put there meanwhile.
  void putBack(Operation *end);

private:
  LogicalResult declare();
  void freeAtExit(SymbolTable &symbols);
  Value exchange(Value value) {
    Value slot = LLVM::AddressOfOp::create(builder, loc, pointer, name);
    return LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::xchg,
                                     slot, value,
                                     LLVM::AtomicOrdering::acq_rel);
  }
  Value allocate(Value kept);
  Value describe();
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, index, value);
  }

  ModuleOp module;
  OpBuilder builder;
  Location loc;
  int64_t size;
  LLVM::LLVMPointerType pointer;
  Type index;
  // Of the global.
  std::string name;
  LLVM::LLVMFuncOp mallocFunction, freeFunction;
  Value block;
};
} // namespace

LogicalResult KeptMemory::declare() {
  auto mallocOr = LLVM::lookupOrCreateMallocFn(builder, module, index);
  auto freeOr = LLVM::lookupOrCreateFreeFn(builder, module);
  if (failed(mallocOr) || failed(freeOr))
    return failure();
  mallocFunction = *mallocOr;
  freeFunction = *freeOr;
  SymbolTable symbols(module);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto global = LLVM::GlobalOp::create(
      builder, loc, pointer,
      /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute());
  name = symbols.insert(global).str();
  builder.createBlock(&global.getInitializerRegion());
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  LLVM::ReturnOp::create(builder, loc, null);
  freeAtExit(symbols);
  return success();
}

void KeptMemory::freeAtExit(SymbolTable &symbols) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name + "_free", type,
                                           LLVM::Linkage::Internal);
  symbols.insert(function);
  LLVM::GlobalDtorsOp::create(
      builder, loc, builder.getArrayAttr(FlatSymbolRefAttr::get(function)),
      builder.getI32ArrayAttr({kDefaultPriority}),
      builder.getArrayAttr(LLVM::ZeroAttr::get(builder.getContext())));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  LLVM::CallOp::create(builder, loc, freeFunction, exchange(null));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

Value KeptMemory::allocate(Value kept) {
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value none =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, kept, null);
  auto choice = scf::IfOp::create(
      builder, loc, none,
      [&](OpBuilder &b, Location l) {
        Value bytes = LLVM::ConstantOp::create(b, l, index, size + kAlignment);
        Value fresh =
            LLVM::CallOp::create(b, l, mallocFunction, bytes).getResult();
        scf::YieldOp::create(b, l, fresh);
      },
      [&](OpBuilder &b, Location l) { scf::YieldOp::create(b, l, kept); });
  return choice.getResult(0);
}

// The aligned block as a memref.
Value KeptMemory::describe() {
  Value address = LLVM::PtrToIntOp::create(builder, loc, index, block);
  address = LLVM::AddOp::create(builder, loc, address, number(kAlignment - 1));
  address = LLVM::AndOp::create(builder, loc, address, number(-kAlignment));
  Value aligned = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  auto array = LLVM::LLVMArrayType::get(index, 1);
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointer, pointer, index, array, array});
  Value descriptor = LLVM::PoisonOp::create(builder, loc, type);
  auto insert = [&](Value value, ArrayRef<int64_t> at) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, at);
  };
  insert(block, 0);
  insert(aligned, 1);
  insert(number(0), 2);
  insert(number(size), {3, 0});
  insert(number(1), {4, 0});
  auto memref = MemRefType::get(size, builder.getI8Type());
  return UnrealizedConversionCastOp::create(builder, loc, memref, descriptor)
      .getResult(0);
}

FailureOr<Value> KeptMemory::take() {
  if (failed(declare()))
    return failure();
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  block = allocate(exchange(null));
  return describe();
}

void KeptMemory::putBack(Operation *end) {
  builder.setInsertionPoint(end);
  LLVM::CallOp::create(builder, loc, freeFunction, exchange(block));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static void allocateInCall(func::FuncOp function, ArrayRef<Buffer> buffers,
                           int64_t size) {
  Block &block = function.front();
  Location loc = function.getLoc();
  OpBuilder builder(&block, block.begin());
  Value memory = memref::AllocOp::create(
      builder, loc, MemRefType::get(size, builder.getI8Type()),
      builder.getI64IntegerAttr(kAlignment));
  for (const Buffer &buffer : buffers)
    replaceBuffer(buffer, memory);
  builder.setInsertionPoint(block.getTerminator());
  memref::DeallocOp::create(builder, loc, memory);
}

static LogicalResult planFunction(func::FuncOp function, bool keep) {
  SmallVector<Buffer> buffers = BufferCollector(function).collect();
  int64_t size = placeBuffers(buffers);
  if (buffers.empty())
    return success();
  if (!keep) {
    allocateInCall(function, buffers, size);
    return success();
  }
  KeptMemory kept(function, size);
  FailureOr<Value> memory = kept.take();
  if (failed(memory))
    return function.emitOpError(
        "cannot keep memory: the module defines malloc or free otherwise");
  for (const Buffer &buffer : buffers)
    replaceBuffer(buffer, *memory);
  kept.putBack(function.front().getTerminator());
  return success();
}

namespace {
struct PlanMemory : rope::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.getFunctionBody().hasOneBlock() &&
          failed(planFunction(function, keep)))
        return signalPassFailure();
  }
};
} // namespace
