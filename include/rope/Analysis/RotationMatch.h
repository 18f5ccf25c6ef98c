//===- RotationMatch.h - Proves that a value is a rotation ------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor is a rotation of a source if along one dim, its channels, each
// element is cos·u − sin·v or cos·v + sin·u of two channels u and v of the
// source, or a channel unchanged, and each channel takes part once.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_ROTATIONMATCH_H
#define ROPE_ANALYSIS_ROTATIONMATCH_H

#include "rope/Analysis/LinearForm.h"

namespace mlir::rope {

/// A pair of channels that turns: y[writtenU] = cos[0]·x[u] − sin[0]·x[v] and
/// y[writtenV] = cos[1]·x[v] + sin[1]·x[u].
struct RotatedPair {
  int64_t u, v;
  int64_t writtenU, writtenV;
  /// The coefficients in the rows of u and of v; equal unless the match is
  /// `full`.
  const Expr *cos[2];
  const Expr *sin[2];
};

/// What a dim of the source is to the root.
struct SourceDim {
  enum class Kind {
    Follows, ///< It is the root's dim `value`, or `count` neighbours from there
             ///< in row-major order, all static but the first.
    Fixed,   ///< It is read at the index `value` alone.
    Channels ///< It holds the channels, or a part of their number.
  };
  Kind kind;
  int64_t value = 0;
  int64_t count = 1;

  /// Whether this is the root's dim `dim`, or has it among its neighbours.
  bool follows(int64_t dim) const {
    return kind == Kind::Follows && dim >= value && dim < value + count;
  }
};

/// A proven rotation.
struct RotationMatch {
  Value root, source;
  /// The dims of the channels in the root: one, or two neighbours that number
  /// the channels in row-major order.
  int64_t rootDim;
  int64_t rootDims;
  /// What each dim of the source is. Several dims of channels are neighbours,
  /// and number the channels in row-major order.
  SmallVector<SourceDim> dims;
  /// Dims of the root along which it repeats the rotated source; static.
  SmallVector<int64_t> repeated;
  /// By ascending u.
  SmallVector<RotatedPair> pairs;
  /// The channels that pass through: of the source, and of the root.
  SmallVector<std::pair<int64_t, int64_t>> unchanged;
  /// Whether the root turns by the opposite of the angle in `sin`.
  bool inverse = false;
  /// Whether the coefficients of the two rows are not known to be equal.
  bool full = false;
  /// A positive factor that the root has besides.
  double factor = 1;

  bool isChannelDim(int64_t dim) const {
    return dim >= rootDim && dim < rootDim + rootDims;
  }
  /// The number of channels of the root.
  int64_t getNumChannels() const {
    ArrayRef<int64_t> shape = cast<ShapedType>(root.getType()).getShape();
    int64_t channels = 1;
    for (int64_t extent : shape.slice(rootDim, rootDims))
      channels *= extent;
    return channels;
  }
};

/// How an attempt to match ended.
struct MatchFailure {
  /// Whether the value had the outline of a rotation (two channels of one
  /// source in an element): worth a remark.
  bool isCandidate = false;
  /// The source whose channels are mixed in pairs, but not turned, if that is
  /// how it failed.
  Value mixedSource;
  std::string reason;
};

/// Matches `root`, or says why it is no rotation. Numbers of channels that are
/// read count over the source's channels, those that are written over the
/// root's. `isKnown` tells the values that are rotations by earlier matches:
/// the source is not looked for beyond a second one.
FailureOr<RotationMatch> matchRotation(ElementEvaluator &evaluator, Value root,
                                       function_ref<bool(Value)> isKnown,
                                       MatchFailure &why);

/// Takes casts and positive constant factors, which `factor` is multiplied by,
/// off an element, down to a sum or to the source.
const Expr *stripFactor(ElementEvaluator &evaluator, const Expr *element,
                        Value source, double &factor);

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_ROTATIONMATCH_H
