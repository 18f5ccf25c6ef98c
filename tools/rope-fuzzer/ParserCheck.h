//===- ParserCheck.h - What must hold of any text ---------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Feeds text to the parser and, if it is a module, to the passes that take any
// module. Crashes show themselves; what is silently wrong is reported.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TOOLS_ROPE_FUZZER_PARSERCHECK_H
#define ROPE_TOOLS_ROPE_FUZZER_PARSERCHECK_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace mlir::rope::fuzz {

/// Checks texts one after another. Not thread-safe.
class ParserCheck {
public:
  /// What is wrong with how `text` was handled, or nothing. Text that is
  /// refused with an error at a place in it is handled well. Text that is
  /// accepted must print, parse again and print the same; canonicalized and
  /// decomposed it must still be valid.
  std::optional<std::string> run(llvm::StringRef text);

  /// How many texts parsed, since the beginning.
  unsigned getNumAccepted() const { return numAccepted; }

private:
  MLIRContext &getContext();

  /// A context keeps every attribute that it has seen, so it is replaced after
  /// some number of texts.
  std::unique_ptr<MLIRContext> context;
  unsigned numUses = 0;
  unsigned numAccepted = 0;
};

/// The words of the dialect, for mutations.
extern const std::vector<llvm::StringRef> dictionary;

/// Changes a few tokens of `text`: replaces, drops, repeats or swaps them, or
/// puts words of the dictionary, unusual numbers and tokens of `other` there.
std::string mutate(llvm::StringRef text, llvm::StringRef other,
                   std::mt19937_64 &rng);

} // namespace mlir::rope::fuzz

#endif // ROPE_TOOLS_ROPE_FUZZER_PARSERCHECK_H
