//===- Report.h - What rope-run prints about results ---------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TOOLS_REPORT_H
#define ROPE_LIB_TOOLS_REPORT_H

#include "rope/Execution/Npy.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::rope {

/// One line for each result: type, shape, least, greatest and mean element.
void printSummary(llvm::raw_ostream &os, llvm::ArrayRef<Array> results);

/// The elements of `array`, a line for each row, at most `limit` of them.
void printElements(llvm::raw_ostream &os, const Array &array, int64_t limit);

/// Prints the differences between `results` and what `expected` holds: out0,
/// out1, … whole, or pos0 and val0, … at some places. Returns whether all are
/// within `rtol`, where one is given. Fails when an array is missing or has
/// another shape. Integers of 16 bits are read as bf16 where the result is.
llvm::Expected<bool> reportExpected(llvm::raw_ostream &os,
                                    llvm::ArrayRef<Array> results,
                                    NamedArrays expected,
                                    std::optional<double> rtol);

/// The same for the results of another way to compile.
llvm::Expected<bool> reportComparison(llvm::raw_ostream &os,
                                      llvm::ArrayRef<Array> results,
                                      llvm::ArrayRef<Array> yardstick,
                                      std::optional<double> rtol);

} // namespace mlir::rope

#endif // ROPE_LIB_TOOLS_REPORT_H
