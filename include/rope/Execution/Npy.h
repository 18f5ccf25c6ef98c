//===- Npy.h - NumPy's array files ---------------------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes NumPy's `.npy` (one array) and `.npz` (a zip archive of
// them), see numpy.lib.format. A file may be anything that somebody hands us:
// every size in it is checked against its length before it is used.
//
// Types: f16 f32 f64, bool, signed and unsigned integers, complex64 and
// complex128, both byte orders, C and Fortran order. bf16, which NumPy lacks,
// is the 2-byte void type that `ml_dtypes` writes. Archives are stored or
// deflated, below 4 GiB and not encrypted.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_NPY_H
#define ROPE_EXECUTION_NPY_H

#include "rope/Execution/Array.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::rope {

/// Arrays and the names under which an archive holds them, without `.npy`.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// Reads the text of an `.npy` file. `name` stands in error messages.
llvm::Expected<Array> parseNpy(llvm::StringRef bytes, llvm::StringRef name);

/// Reads the text of an `.npz` file. `name` stands in error messages.
llvm::Expected<NamedArrays> parseNpz(llvm::StringRef bytes,
                                     llvm::StringRef name);

/// Reads the file at `path`. The error names the path and the reason.
llvm::Expected<Array> readNpy(llvm::StringRef path);
llvm::Expected<NamedArrays> readNpz(llvm::StringRef path);

/// The text of an `.npy` file that holds `array`.
std::string formatNpy(const Array &array);

/// Writes `path`. bf16 becomes u16 bits, which every NumPy can read.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// Writes `arrays` to `path` as an uncompressed archive. Fails when it would
/// pass 4 GiB.
llvm::Error
writeNpz(llvm::StringRef path,
         llvm::ArrayRef<std::pair<std::string, const Array *>> arrays);

/// The array called `name`, or null.
const Array *findArray(const NamedArrays &arrays, llvm::StringRef name);

} // namespace mlir::rope

#endif // ROPE_EXECUTION_NPY_H
