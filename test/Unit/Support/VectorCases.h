//===- VectorCases.h - Cases for vector code of attention -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of vector code of rope.attention have in common: sizes of more
// than a tile, and the options that such code treats on paths of their own.
// Numbers are left to each test, as kinds of code differ in those that they
// compute exactly. Independent of GoogleTest.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TEST_UNIT_SUPPORT_VECTORCASES_H
#define ROPE_TEST_UNIT_SUPPORT_VECTORCASES_H

#include "Support/AttentionCase.h"
#include <ostream>

namespace mlir::rope::test {

/// A kind of vector code: options of the pipeline, and numbers of the plan.
struct VectorCode {
  const char *name, *options, *plan;
};

/// By this GoogleTest names the tests of a kind.
inline std::ostream &operator<<(std::ostream &os, const VectorCode &code) {
  return os << code.name;
}

/// More than a panel of keys and a block of rows, and multiples of nothing.
AttentionCase makeVectorCase(const VectorCode &code);

/// No rotation, all four on operands of dynamic extents, and these if causal.
std::vector<AttentionCase> listRotations(AttentionCase attention);

/// Whole panels, and channels of whole vectors.
AttentionCase withWholeVectors(AttentionCase attention);

/// Windows, causal or not, of all keys and of so many for each batch.
std::vector<AttentionCase> listRanges(AttentionCase attention);

/// Causal, by positions in lists.
std::vector<AttentionCase> listPositions(AttentionCase attention);

/// A mask of this type, alone and beside positions and a length.
std::vector<AttentionCase> listMasks(AttentionCase attention, StringRef type);

/// Less than a vector of channels, and no more than one.
std::vector<AttentionCase> listChannels(AttentionCase attention);

/// Keys and values of infinities and NaN, and huge values, which a length, the
/// order or a mask of one of these types hides. `fill` draws all the other
/// numbers.
using FillCase = llvm::function_ref<void(AttentionCase &)>;
std::vector<AttentionCase> listHiddenKeys(const AttentionCase &attention,
                                          ArrayRef<StringRef> maskTypes,
                                          FillCase fill);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_VECTORCASES_H
