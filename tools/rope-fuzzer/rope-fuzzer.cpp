//===- rope-fuzzer.cpp - Fuzz target of the parser ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer program: `rope-fuzzer corpus/`, where the corpus is what the
// build makes of the lit tests. Half of the mutations are of whole tokens.
//
//===----------------------------------------------------------------------===//

#include "ParserCheck.h"

#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir::rope;

// The names are libFuzzer's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed) {
  std::mt19937_64 rng(seed);
  if (size == 0 || rng() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::string mutated = fuzz::mutate(text, text, rng);
  size_t newSize = std::min(mutated.size(), maxSize);
  std::memcpy(data, mutated.data(), newSize);
  return newSize;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::ParserCheck check;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (std::optional<std::string> error = check.run(text)) {
    llvm::errs() << *error << "\n";
    std::abort();
  }
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
