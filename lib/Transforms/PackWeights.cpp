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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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
  BlockArgument argument;
  /// Views of it that drop dims of extent 1, the last of them of rank 2.
  SmallVector<Operation *> views;
  Value matrix;
  /// Which dim of the matrix runs along the lanes of its products.
  int64_t laneDim;
  int64_t width;
  /// Steps in pairs.
  bool pairs;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(matrix.getType());
  }
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
    return linalg::PackOp::inferPackedType(getType(), getInnerTiles(),
                                           getInnerDims(), getOuterOrder());
  }
};
} // namespace

// The matrix behind an argument that is nothing but viewed as one.
static Value findMatrix(BlockArgument argument,
                        SmallVectorImpl<Operation *> &views) {
  Value value = argument;
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

static std::optional<Weight> findWeight(BlockArgument argument,
                                        const VectorTarget &target,
                                        StringRef &reason) {
  Weight weight;
  weight.argument = argument;
  weight.width = getPanelWidth(target);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  reason = "it is no matrix of static size";
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  reason = "it is packed already";
  if (argument.hasOneUse() && isa<linalg::UnPackOp>(*argument.user_begin()))
    return std::nullopt;
  reason = "it is no matrix of static size";
  weight.matrix = findMatrix(argument, weight.views);
  if (!weight.matrix || weight.matrix.use_empty())
    return std::nullopt;
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
  ArrayRef<int64_t> shape = weight.getType().getShape();
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
    inputs.push_back(weight.argument.getType());
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
    mapping.map(weight.argument, argument);
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

// Has the products of a weight read it through the panels that are now passed.
static void readPacked(func::FuncOp function, const Weight &weight) {
  OpBuilder start(function.getFunctionBody());
  ImplicitLocOpBuilder b(function.getLoc(), start);
  Value empty = tensor::EmptyOp::create(b, weight.getType().getShape(),
                                        weight.getType().getElementType());
  BlockArgument argument = weight.argument;
  argument.setType(weight.getPackedType());
  auto unpacked = linalg::UnPackOp::create(
      b, argument, empty, weight.getInnerDims(),
      getAsIndexOpFoldResult(b.getContext(), weight.getInnerTiles()),
      weight.getOuterOrder());
  Value matrix = weight.matrix;
  matrix.replaceUsesWithIf(unpacked->getResult(0), [&](OpOperand &use) {
    return use.getOwner() != unpacked;
  });
  for (Operation *view : llvm::reverse(weight.views))
    view->erase();
}

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
    readPacked(function, weight);
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
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(packWeights(function, target)))
        return signalPassFailure();
  }
};
} // namespace
