//===- PackWeights.cpp - Weights stored in panels -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-pack-weights. A packed weight is read through linalg.unpack,
// which says all there is to say of its layout; rope-tile-linalg reads panels
// from what that op unpacks.
//
//===----------------------------------------------------------------------===//

#include "LinalgTiles.h"
#include "PairPanels.h"
#include "ProductPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "rope/Analysis/ConstantData.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "rope/Transforms/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;
using linalg::GenericOp;

namespace {
/// A weight of products, and how it is to be stored.
struct Weight {
  /// An argument, or the result of a constant.
  Value source;
  /// Views of it that drop dims of extent 1, the last of them of rank 2.
  SmallVector<Operation *> views;
  Value matrix;
  RankedTensorType type;
  /// Which dim of the matrix runs along the lanes of its products.
  int64_t laneDim;
  int64_t width;
  /// Steps in pairs.
  bool pairs;

  /// Operands of linalg.pack and linalg.unpack.
  SmallVector<int64_t> getInnerDims() const {
    if (pairs)
      return {laneDim, 1 - laneDim};
    return {laneDim};
  }
  SmallVector<int64_t> getInnerTiles() const {
    if (pairs)
      return {width, 2};
    return {width};
  }
  SmallVector<int64_t> getOuterOrder() const { return {laneDim, 1 - laneDim}; }
  /// [N / width, K, width], or [N / width, K / 2, width, 2].
  RankedTensorType getPackedType() const {
    return linalg::PackOp::inferPackedType(type, getInnerTiles(),
                                           getInnerDims(), getOuterOrder());
  }
};
} // namespace

// The matrix behind a value that is nothing but viewed as one.
static Value findMatrix(Value value, SmallVectorImpl<Operation *> &views) {
  while (cast<RankedTensorType>(value.getType()).getRank() != 2) {
    if (!value.hasOneUse())
      return nullptr;
    Operation *view = *value.user_begin();
    auto slice = dyn_cast<tensor::ExtractSliceOp>(view);
    bool keepsAll = isa<tensor::CollapseShapeOp>(view) ||
                    (slice && slice.getType().getNumElements() ==
                                  slice.getSourceType().getNumElements());
    // With other operands it would depend on where it stands.
    if (!keepsAll || view->getNumOperands() != 1 ||
        !cast<RankedTensorType>(view->getResult(0).getType()).hasStaticShape())
      return nullptr;
    views.push_back(view);
    value = view->getResult(0);
  }
  return value;
}

// How one use of a matrix wants it stored: which dim along the lanes, and
// whether in pairs. A reason if it does not.
static FailureOr<std::pair<int64_t, bool>>
findLayout(OpOperand &use, const VectorTarget &target, StringRef &reason) {
  auto op = dyn_cast<GenericOp>(use.getOwner());
  reason = "it is not only a factor of products";
  if (!op || !isSumOfProducts(op) || !isVectorizable(op))
    return failure();
  std::optional<Roles> roles = assignRoles(op);
  if (!roles || roles->steps.size() != 1 ||
      roles->panelOperand != use.getOperandNumber())
    return failure();
  AffineMap map = op.getMatchingIndexingMap(&use);
  bool isMatrix = llvm::all_of(map.getResults(), [&](AffineExpr result) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    return dim == roles->lane || dim == roles->steps.front();
  });
  if (!isMatrix)
    return failure();
  bool pairs = target.dots && canSumPairs(op, *roles);
  reason = "it is narrower than its sums, and not bf16 that `dots` multiplies";
  if (!pairs && getElementTypeOrSelf(use.get()) !=
                    getElementTypeOrSelf(op.getResultTypes()[0]))
    return failure();
  return std::pair<int64_t, bool>(map.getDimPosition(1) == roles->lane, pairs);
}

static std::optional<Weight>
findWeight(Value source, const VectorTarget &target, StringRef &reason) {
  Weight weight;
  weight.source = source;
  weight.width = getPanelWidth(target);
  auto type = dyn_cast<RankedTensorType>(source.getType());
  reason = "it is no matrix of static size";
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  reason = "it is packed already";
  if (source.hasOneUse() && isa<linalg::UnPackOp>(*source.user_begin()))
    return std::nullopt;
  reason = "it is no matrix of static size";
  weight.matrix = findMatrix(source, weight.views);
  if (!weight.matrix || weight.matrix.use_empty())
    return std::nullopt;
  weight.type = cast<RankedTensorType>(weight.matrix.getType());
  std::optional<std::pair<int64_t, bool>> layout;
  for (OpOperand &use : weight.matrix.getUses()) {
    auto wanted = findLayout(use, target, reason);
    if (failed(wanted))
      return std::nullopt;
    reason = "its products want it stored in different ways";
    if (layout && *layout != *wanted)
      return std::nullopt;
    layout = *wanted;
  }
  std::tie(weight.laneDim, weight.pairs) = *layout;
  reason = "its size is not a multiple of a panel's";
  ArrayRef<int64_t> shape = weight.type.getShape();
  if (shape[weight.laneDim] % weight.width != 0 ||
      (weight.pairs && shape[1 - weight.laneDim] % 2 != 0))
    return std::nullopt;
  return weight;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static void createPacking(func::FuncOp function, ArrayRef<Weight> weights,
                          StringRef name) {
  SmallVector<Type> inputs, results;
  for (const Weight &weight : weights) {
    inputs.push_back(weight.source.getType());
    results.push_back(weight.getPackedType());
  }
  OpBuilder after(function->getContext());
  after.setInsertionPointAfter(function);
  auto packing = func::FuncOp::create(
      after, function.getLoc(), name,
      FunctionType::get(function->getContext(), inputs, results));
  StringRef wrapper = LLVM::LLVMDialect::getEmitCWrapperAttrName();
  if (Attribute wrapped = function->getAttr(wrapper))
    packing->setAttr(wrapper, wrapped);
  Block *body = packing.addEntryBlock();
  ImplicitLocOpBuilder b(function.getLoc(), after);
  b.setInsertionPointToStart(body);
  SmallVector<Value> packed;
  for (auto [weight, argument] :
       llvm::zip_equal(weights, body->getArguments())) {
    IRMapping mapping;
    mapping.map(weight.source, argument);
    for (Operation *view : weight.views)
      b.clone(*view, mapping);
    RankedTensorType type = weight.getPackedType();
    Value empty =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    auto pack = linalg::PackOp::create(
        b, mapping.lookupOrDefault(weight.matrix), empty, weight.getInnerDims(),
        getAsIndexOpFoldResult(b.getContext(), weight.getInnerTiles()),
        /*paddingValue=*/std::nullopt, weight.getOuterOrder());
    packed.push_back(pack->getResult(0));
  }
  func::ReturnOp::create(b, packed);
}

// Has the products of a weight read it through panels.
static void readPacked(ImplicitLocOpBuilder &b, Value packed,
                       const Weight &weight) {
  Value empty = tensor::EmptyOp::create(b, weight.type.getShape(),
                                        weight.type.getElementType());
  auto unpacked = linalg::UnPackOp::create(
      b, packed, empty, weight.getInnerDims(),
      getAsIndexOpFoldResult(b.getContext(), weight.getInnerTiles()),
      weight.getOuterOrder());
  Value matrix = weight.matrix;
  matrix.replaceUsesWithIf(unpacked->getResult(0), [&](OpOperand &use) {
    return use.getOwner() != unpacked;
  });
  for (Operation *view : llvm::reverse(weight.views))
    view->erase();
}

// The caller is to pass panels.
static void packArgument(func::FuncOp function, const Weight &weight) {
  OpBuilder start(function.getFunctionBody());
  ImplicitLocOpBuilder b(function.getLoc(), start);
  Value argument = weight.source;
  argument.setType(weight.getPackedType());
  readPacked(b, argument, weight);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// Where linalg.pack puts the element at [lane, step] of a matrix.
static int64_t getPackedPosition(const Weight &weight, int64_t lane,
                                 int64_t step) {
  int64_t steps = weight.type.getDimSize(1 - weight.laneDim);
  int64_t pair = weight.pairs ? 2 : 1;
  int64_t row = lane / weight.width * (steps / pair) + step / pair;
  return (row * weight.width + lane % weight.width) * pair + step % pair;
}

static DenseResourceElementsAttr packElements(const Weight &weight,
                                              const ConstantReader &elements) {
  int64_t size = elements.getBytes(0).size();
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(elements.size() * size,
                                                       /*align=*/64);
  char *packed = blob.getMutableData().data();
  int64_t columns = weight.type.getDimSize(1);
  for (int64_t i = 0; i < elements.size(); ++i) {
    int64_t lane = i / columns, step = i % columns;
    if (weight.laneDim == 1)
      std::swap(lane, step);
    llvm::copy(elements.getBytes(i),
               packed + getPackedPosition(weight, lane, step) * size);
  }
  return DenseResourceElementsAttr::get(weight.getPackedType(),
                                        "rope_packed_weight", std::move(blob));
}

static void packConstant(arith::ConstantOp constant,
                         const VectorTarget &target) {
  auto elements = dyn_cast<ElementsAttr>(constant.getValue());
  if (!elements || elements.isSplat())
    return;
  StringRef reason;
  std::optional<Weight> weight = findWeight(constant, target, reason);
  if (!weight)
    return;
  ConstantReader reader(elements);
  if (!reader)
    return;
  ImplicitLocOpBuilder b(constant.getLoc(), constant);
  Value packed = arith::ConstantOp::create(b, packElements(*weight, reader));
  readPacked(b, packed, *weight);
  constant.erase();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

// Why the arguments of a function have to stay as they are, or nothing.
static StringRef findObstacle(func::FuncOp function) {
  if (!function.isPublic())
    return "its function is private";
  if (!SymbolTable::symbolKnownUseEmpty(function,
                                        function->getParentOfType<ModuleOp>()))
    return "its function is called in the module";
  if (!function.getFunctionBody().hasOneBlock())
    return "its function has no body of one block";
  return "";
}

static SmallVector<Weight> findWeights(func::FuncOp function,
                                       const VectorTarget &target) {
  SmallVector<Weight> weights;
  StringRef obstacle = findObstacle(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, kWeightAttrName))
      continue;
    StringRef reason = obstacle;
    std::optional<Weight> weight;
    if (obstacle.empty())
      weight = findWeight(function.getArgument(i), target, reason);
    if (weight && weight->getPackedType() == weight->source.getType()) {
      reason = "packed, it has the same type, and callers would not notice";
      weight.reset();
    }
    if (weight)
      weights.push_back(*weight);
    else
      emitRemark(function.getLoc())
          << "argument " << i << " is not packed: " << reason;
  }
  return weights;
}

static LogicalResult packWeights(func::FuncOp function,
                                 const VectorTarget &target) {
  SmallVector<Weight> weights = findWeights(function, target);
  if (weights.empty())
    return success();
  std::string name = (kPackWeightsPrefix + function.getName()).str();
  if (SymbolTable::lookupNearestSymbolFrom(
          function, StringAttr::get(function->getContext(), name)))
    return function.emitOpError()
           << "cannot have weights packed: the module defines @" << name
           << " already";
  createPacking(function, weights, name);
  for (const Weight &weight : weights)
    packArgument(function, weight);
  function.setFunctionType(FunctionType::get(
      function->getContext(), function.front().getArgumentTypes(),
      function.getFunctionType().getResults()));
  return success();
}

namespace {
struct PackWeights : rope::impl::PackWeightsPassBase<PackWeights> {
  using PackWeightsPassBase::PackWeightsPassBase;

  void runOnOperation() override {
    VectorTarget target = {lanes, registers, dots};
    if (failed(checkTarget(getOperation(), getArgument(), target)))
      return signalPassFailure();
    // Packing erases views that may stand right behind.
    SmallVector<arith::ConstantOp> constants;
    getOperation().walk(
        [&](arith::ConstantOp constant) { constants.push_back(constant); });
    for (arith::ConstantOp constant : constants)
      packConstant(constant, target);
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(packWeights(function, target)))
        return signalPassFailure();
  }
};
} // namespace
