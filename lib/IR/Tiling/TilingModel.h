//===- TilingModel.h - How the ops of the dialect are cut -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op's TilingInterface follows from what the dims of its operands are in its
// iteration domain. A TilingModel says just that; the functions below do the
// rest for every op.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_TILING_TILINGMODEL_H
#define ROPE_LIB_IR_TILING_TILINGMODEL_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "rope/IR/Rope.h"

namespace mlir::rope {

/// A box: of an iteration domain, or of an operand.
struct Tile {
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes;
};

/// What each dim of an operand is: the dims of the iteration domain that it
/// holds, outermost first. Empty: a dim that every tile takes whole. Two: a
/// dim of extent (first · second).
using OperandDims = SmallVector<SmallVector<unsigned, 2>>;

/// How much of a dim of the iteration domain a tile has.
struct Part {
  /// All of it, as far as can be told.
  bool whole;
  /// One element.
  bool single;
};

/// Why an op cannot be tiled in some way; none if it can.
using Obstacle = std::optional<std::string>;

/// How an op is cut into tiles.
class TilingModel {
public:
  explicit TilingModel(DestinationStyleOpInterface op) : op(op) {}
  virtual ~TilingModel() = default;

  /// The static extent of a dim of the iteration domain, or kDynamic.
  virtual int64_t getStaticExtent(unsigned dim) = 0;

  /// The extent of a dim of the iteration domain; may create IR.
  virtual OpFoldResult getExtent(OpBuilder &builder, unsigned dim) = 0;

  /// Corrects operands of the op that has been built for a tile, beyond slicing
  /// them.
  virtual void adjust(OpBuilder &, Operation * /*tiled*/, const Tile &) {}

  /// Why the op has no tiles of such parts, one part for each dim. `parallel`:
  /// tiles run at the same time. Creates no IR.
  Obstacle findObstacle(ArrayRef<Part> parts, bool parallel);

  /// Whether a tile has all of a dim, as far as can be told; creates no IR.
  bool isWhole(const Tile &tile, unsigned dim);

  /// What a tile has of a dim, and of each; creates no IR.
  Part getPart(const Tile &tile, unsigned dim);
  SmallVector<Part> getParts(const Tile &tile);

  /// The number of the operand that a result is tied to.
  unsigned getInitOperand(unsigned resultNumber);

  DestinationStyleOpInterface op;
  /// The loops, outermost first.
  SmallVector<utils::IteratorType> iterators;
  /// For each operand of the op; empty for one that has no dims.
  SmallVector<OperandDims> operands;

protected:
  /// An obstacle beyond those of operands and results.
  virtual Obstacle findOwnObstacle(ArrayRef<Part>) { return std::nullopt; }
};

/// A model whose domain is the first dims of an operand.
class LeadingDimsModel : public TilingModel {
public:
  LeadingDimsModel(DestinationStyleOpInterface op, Value shaped, unsigned lead)
      : TilingModel(op), shaped(shaped) {
    iterators.assign(lead, utils::IteratorType::parallel);
  }

  int64_t getStaticExtent(unsigned dim) override;
  OpFoldResult getExtent(OpBuilder &builder, unsigned dim) override;

private:
  Value shaped;
};

/// The model of an op of the dialect.
std::unique_ptr<TilingModel> createTilingModel(Operation *op);

/// The tile of an operand that serves a tile of the domain. Fails where a dim
/// that holds two dims of the domain would not be one piece.
FailureOr<Tile> getOperandTile(OpBuilder &builder, TilingModel &model,
                               unsigned operandNumber, const Tile &domainTile);

/// The operands of an op over a tile of the domain: slices, which are appended
/// to `slices`, or the operand itself where the tile has all of it. Fails if an
/// operand cannot be sliced.
FailureOr<SmallVector<Value>>
createOperandTiles(OpBuilder &builder, TilingModel &model, const Tile &tile,
                   SmallVectorImpl<Operation *> &slices);

/// Whether a tile of `shaped` has all of its dim `dim`.
bool isWholeDim(Value shaped, const Tile &tile, unsigned dim);

/// `expr` of `operands`, folded where they are constant.
OpFoldResult apply(OpBuilder &builder, Location loc, AffineExpr expr,
                   ArrayRef<OpFoldResult> operands);

/// A part of a tensor or a memref.
Operation *createSlice(OpBuilder &builder, Location loc, Value shaped,
                       const Tile &tile);

/// `op` on other operands, its results those of its inits.
Operation *cloneOnOperands(OpBuilder &builder, DestinationStyleOpInterface op,
                           ValueRange operands);

/// Implementations of the methods of TilingInterface.
namespace tiling {
std::unique_ptr<TilingModel> createModel(TableOp op);
std::unique_ptr<TilingModel> createModel(AssembleOp op);
std::unique_ptr<TilingModel> createModel(ComposeOp op);
std::unique_ptr<TilingModel> createModel(RotateOp op);
std::unique_ptr<TilingModel> createModel(RerotateOp op);
std::unique_ptr<TilingModel> createModel(AttentionOp op);
std::unique_ptr<TilingModel> createModel(OnlineAttentionOp op);
std::unique_ptr<TilingModel> createModel(LinearAttentionOp op);
SmallVector<Range> getIterationDomain(OpBuilder &builder, TilingModel &model);
FailureOr<TilingResult> getTiledImplementation(OpBuilder &builder,
                                               TilingModel &model,
                                               const Tile &tile);
LogicalResult getResultTilePosition(OpBuilder &builder, TilingModel &model,
                                    unsigned resultNumber, const Tile &tile,
                                    SmallVector<OpFoldResult> &offsets,
                                    SmallVector<OpFoldResult> &sizes);
/// A result tile may have a part of dims that are not in the domain: the tile
/// of the domain gives all of them.
FailureOr<Tile> getDomainTileOfResult(OpBuilder &builder, TilingModel &model,
                                      unsigned resultNumber, const Tile &tile);
/// Operand tiles have all of the dims that are not in the domain.
FailureOr<Tile>
getDomainTileOfOperands(OpBuilder &builder, TilingModel &model,
                        ArrayRef<unsigned> operandNumbers,
                        ArrayRef<SmallVector<OpFoldResult>> offsets,
                        ArrayRef<SmallVector<OpFoldResult>> sizes);
FailureOr<TilingResult> generateResultTileValue(OpBuilder &builder,
                                                TilingModel &model,
                                                unsigned resultNumber,
                                                const Tile &tile);
} // namespace tiling

} // namespace mlir::rope

/// Defines the methods of TilingInterface for an op by `ModelTy(op)`.
#define ROPE_DEFINE_TILING(OpTy, ModelTy)                                      \
  std::unique_ptr<TilingModel> tiling::createModel(OpTy op) {                  \
    return std::make_unique<ModelTy>(op);                                      \
  }                                                                            \
  SmallVector<utils::IteratorType> OpTy::getLoopIteratorTypes() {              \
    return ModelTy(*this).iterators;                                           \
  }                                                                            \
  SmallVector<Range> OpTy::getIterationDomain(OpBuilder &builder) {            \
    ModelTy model(*this);                                                      \
    return tiling::getIterationDomain(builder, model);                         \
  }                                                                            \
  FailureOr<TilingResult> OpTy::getTiledImplementation(                        \
      OpBuilder &builder, ArrayRef<OpFoldResult> offsets,                      \
      ArrayRef<OpFoldResult> sizes) {                                          \
    ModelTy model(*this);                                                      \
    return tiling::getTiledImplementation(                                     \
        builder, model, {llvm::to_vector(offsets), llvm::to_vector(sizes)});   \
  }                                                                            \
  LogicalResult OpTy::getResultTilePosition(                                   \
      OpBuilder &builder, unsigned resultNumber,                               \
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,            \
      SmallVector<OpFoldResult> &resultOffsets,                                \
      SmallVector<OpFoldResult> &resultSizes) {                                \
    ModelTy model(*this);                                                      \
    return tiling::getResultTilePosition(                                      \
        builder, model, resultNumber,                                          \
        {llvm::to_vector(offsets), llvm::to_vector(sizes)}, resultOffsets,     \
        resultSizes);                                                          \
  }                                                                            \
  FailureOr<TilingResult> OpTy::generateResultTileValue(                       \
      OpBuilder &builder, unsigned resultNumber,                               \
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {          \
    ModelTy model(*this);                                                      \
    return tiling::generateResultTileValue(                                    \
        builder, model, resultNumber,                                          \
        {llvm::to_vector(offsets), llvm::to_vector(sizes)});                   \
  }                                                                            \
  LogicalResult OpTy::getIterationDomainTileFromResultTile(                    \
      OpBuilder &builder, unsigned resultNumber,                               \
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,            \
      SmallVectorImpl<OpFoldResult> &domainOffsets,                            \
      SmallVectorImpl<OpFoldResult> &domainSizes) {                            \
    ModelTy model(*this);                                                      \
    FailureOr<Tile> tile = tiling::getDomainTileOfResult(                      \
        builder, model, resultNumber,                                          \
        {llvm::to_vector(offsets), llvm::to_vector(sizes)});                   \
    if (failed(tile))                                                          \
      return failure();                                                        \
    domainOffsets = std::move(tile->offsets);                                  \
    domainSizes = std::move(tile->sizes);                                      \
    return success();                                                          \
  }                                                                            \
  LogicalResult OpTy::getIterationDomainTileFromOperandTiles(                  \
      OpBuilder &builder, ArrayRef<unsigned> operandNumbers,                   \
      ArrayRef<SmallVector<OpFoldResult>> offsets,                             \
      ArrayRef<SmallVector<OpFoldResult>> sizes,                               \
      SmallVectorImpl<OpFoldResult> &domainOffsets,                            \
      SmallVectorImpl<OpFoldResult> &domainSizes) {                            \
    ModelTy model(*this);                                                      \
    FailureOr<Tile> tile = tiling::getDomainTileOfOperands(                    \
        builder, model, operandNumbers, offsets, sizes);                       \
    if (failed(tile))                                                          \
      return failure();                                                        \
    domainOffsets = std::move(tile->offsets);                                  \
    domainSizes = std::move(tile->sizes);                                      \
    return success();                                                          \
  }                                                                            \
  FailureOr<TilingResult> OpTy::getTiledImplementationFromOperandTiles(        \
      OpBuilder &builder, ArrayRef<unsigned> operandNumbers,                   \
      ArrayRef<SmallVector<OpFoldResult>> offsets,                             \
      ArrayRef<SmallVector<OpFoldResult>> sizes) {                             \
    ModelTy model(*this);                                                      \
    FailureOr<Tile> tile = tiling::getDomainTileOfOperands(                    \
        builder, model, operandNumbers, offsets, sizes);                       \
    if (failed(tile))                                                          \
      return failure();                                                        \
    return tiling::getTiledImplementation(builder, model, *tile);              \
  }

#endif // ROPE_LIB_IR_TILING_TILINGMODEL_H
