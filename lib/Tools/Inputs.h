//===- Inputs.h - Arguments for a call of a model ------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where rope-run takes arguments from: array files, a seed, or a seed and a
// list of distributions.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TOOLS_INPUTS_H
#define ROPE_LIB_TOOLS_INPUTS_H

#include "rope/Execution/EntryPoint.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::rope {

/// How one argument is drawn.
struct InputSpec {
  enum class Distribution {
    Normal,   ///< standard normal, times `scale`
    Integers, ///< whole numbers in [0, scale)
    Iota,     ///< 0, 1, 2, … along the last dimension
    Ones,     ///< 1
    Full      ///< `scale`
  };

  DType dtype = DType::F32;
  SmallVector<int64_t> shape;
  Distribution distribution = Distribution::Normal;
  double scale = 1;
};

/// Reads one `.npz` file with in0, in1, … (or arr_0, arr_1, … as numpy.savez
/// names them), or one `.npy` file for each argument of `entry`.
llvm::Expected<std::vector<Array>> readInputs(const EntryPoint &entry,
                                              ArrayRef<std::string> paths);

/// Reads a JSON list of {"shape", "dtype", "dist", "scale"}, with NumPy's names
/// of types and "normal", "integers", "iota", "ones" or "full" for "dist".
llvm::Expected<std::vector<InputSpec>> readInputSpecs(StringRef path);

/// What `--random` draws for `entry`: floats are standard normal, integers
/// count along the last dimension (the positions or ids of a sequence), i1 is
/// random. The shape of argument i is `shapes[i]` where given; other dynamic
/// sizes are `dims`. Fails when a size stays unknown.
llvm::Expected<std::vector<InputSpec>>
getRandomSpecs(const EntryPoint &entry,
               const std::map<unsigned, SmallVector<int64_t>> &shapes,
               std::optional<int64_t> dims);

/// Draws the arguments of `entry`. Number i comes from the stream that NumPy
/// has for PCG64([seed, i]).
llvm::Expected<std::vector<Array>>
drawInputs(const EntryPoint &entry, ArrayRef<InputSpec> specs, uint32_t seed);

/// Parses `2x3x4`; an empty text is the shape of rank 0.
std::optional<SmallVector<int64_t>> parseShape(StringRef text);

} // namespace mlir::rope

#endif // ROPE_LIB_TOOLS_INPUTS_H
