//===- RotationMatcher.h - One root against one source --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_ANALYSIS_ROTATIONMATCHER_H
#define ROPE_LIB_ANALYSIS_ROTATIONMATCHER_H

#include "rope/Analysis/LinearForm.h"
#include "rope/Analysis/RotationMatch.h"

namespace mlir::rope {

/// The index of a channel of a root whose channels are numbered by `dims` dims
/// from `dim` on, in row-major order.
SmallVector<const Expr *> getRootIndex(ElementEvaluator &evaluator, Value root,
                                       int64_t dim, int64_t dims,
                                       int64_t channel);

/// A coefficient as a sign and the rest, fully expanded.
struct SignedCoefficient {
  bool negative;
  const Expr *given;
  const Expr *expanded;
};

/// The attempt to match one root with one source.
class RotationMatcher {
public:
  RotationMatcher(ElementEvaluator &evaluator, Value root, int64_t rootDim,
                  int64_t rootDims, Value source, MatchFailure &why)
      : evaluator(evaluator), context(evaluator.getContext()),
        builder(evaluator, source), why(why) {
    match.root = root;
    match.source = source;
    match.rootDim = rootDim;
    match.rootDims = rootDims;
  }

  FailureOr<RotationMatch> run();

private:
  LogicalResult fail(const Twine &reason) {
    why.reason = reason.str();
    return failure();
  }
  const Expr *getElement(int64_t channel);
  SmallVector<const Expr *> getElements();
  FailureOr<LinearForm> buildForm(int64_t channel, const Expr *element);
  LogicalResult buildForms();
  LogicalResult checkFirstElement();
  bool hasExtentOf(unsigned dim, const SourceDim &followed);
  FailureOr<SourceDim> findFollowed(unsigned dim, const Expr *index);
  LogicalResult matchDim(unsigned dim);
  LogicalResult matchDims();
  void followUnitDims(llvm::SmallDenseSet<int64_t> &followed);
  LogicalResult matchUnchanged(int64_t channel);
  LogicalResult matchPair(int64_t first, int64_t second);
  LogicalResult checkPair(RotatedPair &pair, SignedCoefficient cosU,
                          SignedCoefficient sinU, SignedCoefficient cosV,
                          SignedCoefficient sinV);
  LogicalResult pairUp();
  LogicalResult checkTableDims();
  SignedCoefficient getCoefficient(const LinearTerm &term);
  int64_t getChannel(const LinearTerm &term);

  ElementEvaluator &evaluator;
  ExprContext &context;
  LinearFormBuilder builder;
  MatchFailure &why;
  RotationMatch match;
  SmallVector<LinearForm> forms;
  std::optional<bool> inverse;
};

} // namespace mlir::rope

#endif // ROPE_LIB_ANALYSIS_ROTATIONMATCHER_H
