//===- RotationBuilder.cpp - Proven rotations as ops ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op rotates a view of the source: the dims of the root in their order, but
// for the channels, which come last.
//
//===----------------------------------------------------------------------===//

#include "rope/Raise/RotationBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/ElementTypes.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Pairings
//===----------------------------------------------------------------------===//

/// The pairing, offset and distance that pairs of channels have, or nullopt.
/// `pairs` are in the order in which the table has them.
struct PairingFit {
  Pairing pairing;
  int64_t offset;
  int64_t distance;
};

static std::optional<PairingFit>
fitPairing(ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  int64_t offset = pairs.front().first;
  int64_t distance = pairs.front().second - offset;
  bool half = true, interleaved = distance == 1;
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    int64_t at = i;
    half &= pair.first == offset + at && pair.second - pair.first == distance;
    interleaved &=
        pair.first == offset + 2 * at && pair.second == pair.first + 1;
  }
  // A single pair of neighbours is both; say half.
  if (half)
    return PairingFit{Pairing::Half, offset, distance};
  if (interleaved)
    return PairingFit{Pairing::Interleaved, offset, 1};
  return std::nullopt;
}

/// The dims of the root, in their order, that the rotation is done in: all but
/// the channels, which come after them, and those that only repeat.
static SmallVector<int64_t> getFrame(const RotationMatch &match) {
  SmallVector<int64_t> frame;
  int64_t rank = cast<ShapedType>(match.root.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!match.isChannelDim(dim) && !llvm::is_contained(match.repeated, dim))
      frame.push_back(dim);
  return frame;
}

static int64_t getPosition(ArrayRef<int64_t> list, int64_t value) {
  return llvm::find(list, value) - list.begin();
}

FailureOr<RotaryFit> rope::fitRotary(const RotationMatch &match,
                                     ArrayRef<int64_t> along,
                                     std::string &reason) {
  Type type = getElementTypeOrSelf(match.root.getType());
  if (!isOpFloat(type)) {
    reason = "it is of " + llvm::to_string(type);
    return failure();
  }
  int64_t channels = match.getNumChannels();
  SmallVector<std::pair<int64_t, int64_t>> read, written;
  int64_t base = match.pairs.front().u;
  for (const RotatedPair &pair : match.pairs) {
    base = std::min({base, pair.u, pair.v});
    read.emplace_back(pair.u, pair.v);
    written.emplace_back(pair.writtenU, pair.writtenV);
  }
  for (auto [from, to] : match.unchanged)
    base = std::min(base, from);
  for (auto &[u, v] : read) {
    u -= base;
    v -= base;
  }
  for (auto [from, to] : match.unchanged)
    if (from - base != to) {
      reason = "channel " + std::to_string(from) + " passes through to " +
               std::to_string(to);
      return failure();
    }
  int64_t pairs = match.pairs.size();
  std::optional<PairingFit> from = fitPairing(read), to = fitPairing(written);
  if (!from || !to || from->offset != to->offset ||
      (from->pairing == to->pairing && from->distance != to->distance) ||
      2 * pairs + static_cast<int64_t>(match.unchanged.size()) != channels) {
    reason = "its pairs are neither halves nor neighbours";
    return failure();
  }
  SmallVector<int64_t> frame = getFrame(match), alongFrame;
  for (int64_t dim : along)
    alongFrame.push_back(getPosition(frame, dim));
  std::optional<int64_t> distance;
  if (from->pairing == Pairing::Half && from->distance != pairs)
    distance = from->distance;
  return RotaryFit{base, RotaryAttr::get(match.root.getContext(), from->pairing,
                                         to->pairing, from->offset, distance,
                                         alongFrame, match.full)};
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// A tensor whose dims are known: the dim of the root, or −1 for the channels.
struct LabelledTensor {
  Value tensor;
  SmallVector<int64_t> labels;
};
} // namespace

static constexpr int64_t kChannels = -1;

/// Takes the fixed index of dims that have one, and drops them.
static LabelledTensor takeFixed(OpBuilder &builder, Location loc,
                                const RotationMatch &match, Value source) {
  LabelledTensor result = {source, {}};
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  for (auto [dim, is] : llvm::enumerate(match.dims)) {
    bool fixed = is.kind == SourceDim::Kind::Fixed;
    offsets.push_back(builder.getIndexAttr(fixed ? is.value : 0));
    sizes.push_back(fixed ? builder.getIndexAttr(1)
                          : tensor::getMixedSize(builder, loc, source, dim));
    if (fixed)
      continue;
    shape.push_back(type.getDimSize(dim));
    result.labels.push_back(is.kind == SourceDim::Kind::Channels ? kChannels
                                                                 : is.value);
  }
  auto sliced = RankedTensorType::get(shape, type.getElementType());
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  if (sliced != type)
    result.tensor = tensor::ExtractSliceOp::create(builder, loc, sliced, source,
                                                   offsets, sizes, strides);
  return result;
}

/// Splits dims that are several of the root's into those.
static LabelledTensor splitGroups(OpBuilder &builder, Location loc,
                                  const RotationMatch &match,
                                  LabelledTensor from) {
  ArrayRef<int64_t> rootShape =
      cast<ShapedType>(match.root.getType()).getShape();
  LabelledTensor result = {from.tensor, {}};
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  for (auto [dim, label] : llvm::enumerate(from.labels)) {
    const SourceDim *group = llvm::find_if(
        match.dims, [&, l = label](auto &d) { return d.follows(l); });
    int64_t count = label == kChannels ? 1 : group->count;
    groups.emplace_back();
    for (int64_t i = 0; i < count; ++i) {
      groups.back().push_back(shape.size());
      shape.push_back(
          count == 1 ? cast<ShapedType>(from.tensor.getType()).getDimSize(dim)
                     : rootShape[label + i]);
      result.labels.push_back(label == kChannels ? label : label + i);
    }
  }
  auto type = cast<RankedTensorType>(from.tensor.getType());
  if (result.labels.size() != from.labels.size())
    result.tensor = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        from.tensor, groups);
  return result;
}

/// Makes one dim of those that number the channels together.
static LabelledTensor collapseChannels(OpBuilder &builder, Location loc,
                                       LabelledTensor from) {
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> labels;
  for (auto [dim, label] : llvm::enumerate(from.labels)) {
    if (label == kChannels && !labels.empty() && labels.back() == kChannels) {
      groups.back().push_back(dim);
      continue;
    }
    groups.push_back({static_cast<int64_t>(dim)});
    labels.push_back(label);
  }
  if (labels.size() != from.labels.size())
    from = {tensor::CollapseShapeOp::create(builder, loc, from.tensor, groups),
            labels};
  return from;
}

static Value transpose(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<int64_t> permutation) {
  if (isIdentityPermutation(permutation))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  applyPermutationToVector(sizes, permutation);
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, tensor, init, permutation)
      ->getResult(0);
}

/// The source with the root's dims in their order, those of extent 1 that it
/// lacks put in, and the channels last.
static Value buildView(OpBuilder &builder, Location loc,
                       const RotationMatch &match, Value source) {
  LabelledTensor view =
      collapseChannels(builder, loc, takeFixed(builder, loc, match, source));
  view = splitGroups(builder, loc, match, view);
  SmallVector<int64_t> frame = getFrame(match), order;
  frame.push_back(kChannels);
  llvm::copy_if(frame, std::back_inserter(order), [&](int64_t label) {
    return llvm::is_contained(view.labels, label);
  });
  SmallVector<int64_t> permutation;
  for (int64_t label : order)
    permutation.push_back(getPosition(view.labels, label));
  Value tensor = transpose(builder, loc, view.tensor, permutation);
  if (order.size() == frame.size())
    return tensor;

  // Dims of extent 1 join the dim after them.
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
  ReassociationIndices open;
  SmallVector<OpFoldResult> have = tensor::getMixedSizes(builder, loc, tensor);
  for (auto [i, label] : llvm::enumerate(frame)) {
    open.push_back(i);
    const int64_t *found = llvm::find(order, label);
    bool there = found != order.end();
    sizes.push_back(there ? have[found - order.begin()]
                          : builder.getIndexAttr(1));
    shape.push_back(
        getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
    if (there)
      groups.push_back(std::exchange(open, {}));
  }
  auto type = RankedTensorType::get(
      shape, cast<ShapedType>(tensor.getType()).getElementType());
  return tensor::ExpandShapeOp::create(builder, loc, type, tensor, groups,
                                       sizes);
}

/// The channels of the view that the root has.
static Value sliceChannels(OpBuilder &builder, Location loc, Value view,
                           int64_t base, int64_t channels) {
  auto type = cast<RankedTensorType>(view.getType());
  int64_t last = type.getRank() - 1;
  if (type.getDimSize(last) == channels)
    return view;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, view);
  offsets[last] = builder.getIndexAttr(base);
  sizes[last] = builder.getIndexAttr(channels);
  return tensor::ExtractSliceOp::create(builder, loc, view, offsets, sizes,
                                        strides);
}

/// Brings a tensor of floats to another element type, of another width.
static Value castElements(OpBuilder &builder, Location loc, Value tensor,
                          Type type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() == type)
    return tensor;
  auto to = RankedTensorType::get(from.getShape(), type);
  if (from.getElementTypeBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, tensor);
  return arith::TruncFOp::create(builder, loc, to, tensor);
}

/// The type to rotate in so that the source is not rounded before and the
/// result once after: the wider one, or f32 for f16 and bf16.
static Type getRotatedType(Type source, Type root) {
  unsigned sourceWidth = source.getIntOrFloatBitWidth();
  unsigned rootWidth = root.getIntOrFloatBitWidth();
  if (source != root && sourceWidth == rootWidth)
    return Float32Type::get(source.getContext());
  return sourceWidth > rootWidth ? source : root;
}

/// Splits the last dim into the dims of channels that the root has.
static Value splitChannels(OpBuilder &builder, Location loc,
                           const RotationMatch &match, Value turned) {
  if (match.rootDims == 1)
    return turned;
  auto rootType = cast<RankedTensorType>(match.root.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, turned);
  sizes.pop_back();
  SmallVector<ReassociationIndices> groups;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    groups.push_back({static_cast<int64_t>(dim)});
  groups.emplace_back();
  for (int64_t i = 0; i < match.rootDims; ++i) {
    groups.back().push_back(sizes.size());
    sizes.push_back(
        builder.getIndexAttr(rootType.getDimSize(match.rootDim + i)));
  }
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, rootType.getElementType()),
      turned, groups, sizes);
}

/// From the frame to the root: the channels go to where the root has them, and
/// what the root repeats is repeated.
static Value restoreRoot(OpBuilder &builder, Location loc,
                         const RotationMatch &match, Value turned) {
  turned = splitChannels(builder, loc, match, turned);
  auto rootType = cast<RankedTensorType>(match.root.getType());
  SmallVector<int64_t> frame = getFrame(match), permutation;
  for (int64_t dim = 0; dim < rootType.getRank(); ++dim) {
    if (match.isChannelDim(dim))
      permutation.push_back(frame.size() + dim - match.rootDim);
    else if (!llvm::is_contained(match.repeated, dim))
      permutation.push_back(getPosition(frame, dim));
  }
  turned = transpose(builder, loc, turned, permutation);
  if (match.repeated.empty())
    return turned;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, turned);
  for (int64_t dim : match.repeated)
    sizes.insert(sizes.begin() + dim,
                 builder.getIndexAttr(rootType.getDimSize(dim)));
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, rootType.getElementType());
  return linalg::BroadcastOp::create(builder, loc, turned, init, match.repeated)
      ->getResult(0);
}

static Value scaleElements(OpBuilder &builder, Location loc, Value tensor,
                           double factor) {
  if (factor == 1)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor),
      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), tensor, init, maps, loops,
             [&](OpBuilder &body, Location, ValueRange arguments) {
               Value constant = arith::ConstantOp::create(
                   body, loc, FloatAttr::get(type.getElementType(), factor));
               Value scaled =
                   arith::MulFOp::create(body, loc, arguments[0], constant);
               linalg::YieldOp::create(body, loc, scaled);
             })
      .getResult(0);
}

Value rope::buildRotation(OpBuilder &builder, Location loc,
                          const RotationMatch &match, Value source,
                          const BuiltTable &table, const RotaryFit &fit) {
  auto rootType = cast<RankedTensorType>(match.root.getType());
  Value view = buildView(builder, loc, match, source);
  view = sliceChannels(builder, loc, view, fit.base, match.getNumChannels());
  Type type = getRotatedType(getElementTypeOrSelf(view.getType()),
                             rootType.getElementType());
  view = castElements(builder, loc, view, type);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, view), type);
  Value turned = match.inverse ? RerotateOp::create(builder, loc, fit.rotary,
                                                    view, table.table, init)
                                     .getResult()
                               : RotateOp::create(builder, loc, fit.rotary,
                                                  view, table.table, init)
                                     .getResult();
  turned = scaleElements(builder, loc, turned, match.factor);
  turned = castElements(builder, loc, turned, rootType.getElementType());
  Value result = restoreRoot(builder, loc, match, turned);
  if (result.getType() != rootType)
    result = tensor::CastOp::create(builder, loc, rootType, result);
  return result;
}
