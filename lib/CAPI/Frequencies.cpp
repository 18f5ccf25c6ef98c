//===- Frequencies.cpp - Frequency schedules from C -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wrap.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "rope-c/Reference.h"
#include "rope/IR/Rope.h"
#include "rope/IR/TableFacts.h"

using namespace mlir;
using namespace mlir::rope;

/// The schedule that `text` spells, checked to serve `pairs` pairs. Null after
/// a diagnostic.
static FrequencyAttrInterface parseSchedule(StringRef text, int64_t pairs,
                                            bool hasLength,
                                            MLIRContext *context) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(context)); };
  Attribute attribute = parseAttribute(text, context);
  if (!attribute)
    return nullptr;
  auto schedule = dyn_cast<FrequencyAttrInterface>(attribute);
  if (!schedule) {
    emitError() << text << " is no schedule of frequencies";
    return nullptr;
  }
  if (pairs < 1 || pairs > kMaxPairs) {
    emitError() << "expected 1 to " << kMaxPairs << " pairs, got " << pairs;
    return nullptr;
  }
  if (schedule.dependsOnLength() && !hasLength) {
    emitError() << "the schedule depends on the length of the sequence";
    return nullptr;
  }
  return succeeded(schedule.verifyPairs(pairs, emitError)) ? schedule : nullptr;
}

RopeArray ropeGetFrequencies(const char *attribute, int64_t pairs,
                             int64_t length, double *magnitude, char **error) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<RopeDialect>();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "\n") + diagnostic.str();
  });
  auto schedule = parseSchedule(attribute, pairs, length >= 0, &context);
  if (!schedule) {
    setError(error, message);
    return {nullptr};
  }
  std::optional<int64_t> known;
  if (length >= 0)
    known = length;
  SmallVector<double> values = schedule.computeFrequencies(pairs, known);
  Array array = llvm::cantFail(Array::create(DType::F64, {pairs}));
  for (auto [index, value] : llvm::enumerate(values))
    array.set(index, value);
  *magnitude = schedule.computeMagnitude();
  return mlir::rope::wrap(std::move(array));
}
