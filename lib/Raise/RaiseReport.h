//===- RaiseReport.h - What was raised, and what was not --------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_RAISE_RAISEREPORT_H
#define ROPE_LIB_RAISE_RAISEREPORT_H

#include "mlir/IR/Location.h"

#include <map>

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::rope {

/// Collects how each candidate ended, as remarks and for a summary.
class RaiseReport {
public:
  enum class Kind {
    Rotation,
    InverseRotation,
    Attention,
    LinearAttention,
    Update,
  };

  explicit RaiseReport(bool explain) : explain(explain) {}

  /// A candidate became an op; `text` says which.
  void addRaised(Kind kind, Location loc, const Twine &text);
  /// A candidate was left as it is; `what` it is not, and why.
  void addRefused(Location loc, StringRef what, StringRef reason);

  /// Writes the summary of a model as a remark on it.
  void emitSummary(Operation *model) const;

private:
  bool explain;
  unsigned raised[static_cast<unsigned>(Kind::Update) + 1] = {};
  /// How many candidates were left for each reason, and the first of them.
  std::map<std::string, std::pair<unsigned, Location>> refused;
};

} // namespace mlir::rope

#endif // ROPE_LIB_RAISE_RAISEREPORT_H
