//===- RaiseReport.cpp - What was raised, and what was not ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseReport.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "rope/IR/Rope.h"
#include "rope/IR/TableFacts.h"
#include "rope/Raise/TableBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::rope;

void RaiseReport::addRaised(Kind kind, Location loc, const Twine &text) {
  ++raised[static_cast<unsigned>(kind)];
  if (explain)
    emitRemark(loc) << text;
}

void RaiseReport::addRefused(Location loc, StringRef what, StringRef reason) {
  std::string text = ("no " + what + ": " + reason).str();
  if (explain)
    emitRemark(loc) << text;
  auto [entry, inserted] = refused.try_emplace(text, 0, loc);
  ++entry->second.first;
}

/// By Kind.
static constexpr llvm::StringLiteral kNouns[] = {
    "rotation", "inverse rotation", "attention", "linear attention", "update"};

static std::string countNoun(unsigned number, StringRef noun) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

/// The tables of a model by what they are.
static std::map<std::string, unsigned> countTables(Operation *model) {
  std::map<std::string, unsigned> tables;
  model->walk([&](Operation *op) {
    std::string name;
    if (auto table = dyn_cast<TableOp>(op)) {
      Attribute schedule = table->getAttr(kScheduleAttrName);
      if (!schedule)
        schedule = table.getFrequencies();
      llvm::raw_string_ostream(name) << schedule;
      // The numbers of a list say little.
      if (isa<ExplicitAttr>(schedule))
        name = "listed frequencies";
    } else if (isa<AssembleOp>(op)) {
      name = "the model's own cosines and sines";
    }
    if (!name.empty())
      ++tables[name];
  });
  return tables;
}

void RaiseReport::emitSummary(Operation *model) const {
  std::string text = "raised ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::zip_equal(raised, kNouns), os, [&](auto pair) {
    auto [number, noun] = pair;
    os << countNoun(number, noun);
  });
  for (auto &[name, number] : countTables(model))
    text += "\n  " + countNoun(number, "table") + " of " + name;
  for (auto &[reason, where] : refused) {
    text += "\n  left " + std::to_string(where.first) + ": " + reason +
            ", first at ";
    llvm::raw_string_ostream(text) << where.second;
  }
  emitRemark(model->getLoc()) << text;
}
