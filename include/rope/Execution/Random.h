//===- Random.h - NumPy's random numbers ---------------------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generator behind numpy.random.Generator(PCG64([seed, …])): the same seed
// gives the same numbers as NumPy, so a script can draw the inputs of a model
// without writing them to a file.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_RANDOM_H
#define ROPE_EXECUTION_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::rope {

/// PCG64 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically
/// Good Algorithms for Random Number Generation", 2014: XSL-RR 128/64) seeded
/// by NumPy's SeedSequence.
class RandomGenerator {
public:
  /// Seeds as PCG64(list) does for a list of numbers below 2^32.
  explicit RandomGenerator(llvm::ArrayRef<uint32_t> entropy);

  uint64_t next64();

  /// Half of a 64-bit number, the lower one first.
  uint32_t next32();

  /// Uniform in [0, 1), of 53 bits.
  double nextDouble();

  /// Standard normal, by the ziggurat of 256 layers (Marsaglia and Tsang,
  /// 2000).
  double nextNormal();

  /// Uniform in [0, bound), 0 < bound <= 2^32 (Lemire, "Fast Random Integer
  /// Generation in an Interval", 2019).
  uint64_t nextBelow(uint64_t bound);

private:
  void step();

  unsigned __int128 state = 0, increment = 0;
  uint32_t spare = 0;
  bool hasSpare = false;
};

} // namespace mlir::rope

#endif // ROPE_EXECUTION_RANDOM_H
