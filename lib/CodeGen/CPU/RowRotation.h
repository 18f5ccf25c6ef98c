//===- RowRotation.h - Turns the pairs of a row of channels -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is one vector of f32, however long; LLVM cuts it into registers.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_ROWROTATION_H
#define ROPE_LIB_CODEGEN_CPU_ROWROTATION_H

#include "KernelBuilder.h"
#include "rope/IR/Rope.h"

namespace mlir::rope::cpu {

/// The entries of a table that turn one row, in f32.
struct TableRow {
  Value cosines, sines;
};

/// Loads the entries at an index for each leading dim of a table.
TableRow loadTableRow(KernelBuilder &b, Value table, ArrayRef<IndexLike> at);

/// Turns the pairs of a row: y_u = u·c − v·s, y_v = v·c + u·s, or by −s if
/// `opposite`. Other channels pass through.
Value turnRow(KernelBuilder &b, Value row, RotaryAttr rotary,
              const TableRow &entries, bool opposite);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_ROWROTATION_H
