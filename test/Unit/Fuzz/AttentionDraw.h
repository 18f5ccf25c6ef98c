//===- AttentionDraw.h - Random operands of attention -----------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the cases of the three attention ops share: extents of the domain, the
// layout of each role, and operands under it.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_FUZZ_ATTENTIONDRAW_H
#define ROPE_TEST_UNIT_FUZZ_ATTENTIONDRAW_H

#include "Tables.h"

#include "rope/Reference/Layout.h"

#include <map>

namespace mlir::rope::test {

/// The dims of one role's operand.
struct DrawnDims {
  /// One item for each dim, such as "b", "(hg)" or "1".
  std::vector<std::string> items;
  reference::Shape shape;
  SmallVector<bool> keepStatic;

  std::string getLetters() const;
};

/// Draws the operands of one attention op.
class AttentionDraw {
public:
  explicit AttentionDraw(CaseBuilder &b);

  CaseBuilder &b;
  Draw &draw;
  /// The extent of each letter.
  reference::Extents extents;

  /// Draws the dims of outputs, which restrict those of all operands, so that
  /// this comes first.
  DrawnDims drawInitDims(OperandRole role);
  /// Draws the dims of an input. `isRotated`: its channels come last and are
  /// static.
  DrawnDims drawDims(OperandRole role, bool isRotated = false);

  /// An init under dims drawn by `drawInitDims`, after all of them are.
  Operand addInit(const DrawnDims &dims, Type type,
                  const reference::Array *contents = nullptr);
  /// Random numbers under drawn dims.
  Operand addFloats(const DrawnDims &dims, Type type, double low = -1,
                    double high = 1);

  /// Brings numbers from a role's dims to those of the reference, for example
  /// "bhgmd", and back.
  reference::Array toCanonical(const reference::Array &numbers,
                               const DrawnDims &dims, StringRef letters) const;
  reference::Array fromCanonical(const reference::Array &numbers,
                                 const DrawnDims &dims,
                                 StringRef letters) const;

  /// A rotation of a role's operand, which has to be last in `op`'s sight.
  /// `letters` are those of the reference's operand without its channels.
  DrawnRotation drawRoleRotation(const DrawnDims &dims, StringRef letters,
                                 reference::RoleRotation &canonical);

  /// The layout of all roles drawn so far that do not have the default, or
  /// null.
  LayoutAttr getLayout();

private:
  std::vector<std::string> drawDefaultItems(OperandRole role);
  std::vector<std::string> drawItems(OperandRole role, bool isRotated);
  bool mayLack(OperandRole role, char letter);

  bool isClosed(StringRef item) const;
  DrawnDims makeDims(OperandRole role, std::vector<std::string> items,
                     bool isRotated, bool isDefault);

  /// Letters of extent 1 that an init lacks: no operand may leave them open.
  std::string closed;
  bool initsDrawn = false;
  std::map<OperandRole, std::string> layout;
};

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_FUZZ_ATTENTIONDRAW_H
