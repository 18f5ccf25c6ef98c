//===- TableFacts.cpp - What is known of tables and their uses ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks at the producers of tables, and at the operands that use them.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/TableFacts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

int64_t rope::getTableWidth(Value table) {
  return cast<ShapedType>(table.getType()).getShape().back();
}

std::optional<SmallVector<double>> rope::getConstantFrequencies(TableOp table) {
  int64_t pairs = getTableWidth(table.getInit());
  if (table.getFrequencies().dependsOnLength() || pairs > kMaxListedPairs)
    return std::nullopt;
  return table.getFrequencies().computeFrequencies(pairs, std::nullopt);
}

ExplicitAttr rope::getExplicit(MLIRContext *context,
                               ArrayRef<double> frequencies, double magnitude) {
  FloatAttr factor;
  if (magnitude != 1)
    factor = FloatAttr::get(Float64Type::get(context), magnitude);
  return ExplicitAttr::get(
      context, DenseF64ArrayAttr::get(context, frequencies), factor);
}

/// Whether a slice takes whole entries: all of both planes, as many entries as
/// it likes.
static bool slicesWholeEntries(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType(), result = slice.getType();
  int64_t planes = source.getRank() - 2;
  return source.getRank() >= 2 && result.getRank() >= 2 &&
         !slice.getDroppedDims()[planes + 1] &&
         slice.getStaticSizes()[planes] == 2 &&
         slice.getStaticStrides()[planes] == 1;
}

/// Calls back for each schedule that a table is made of; false if part of it is
/// of another origin.
static bool visitFactors(Value table, function_ref<void(TableOp)> visit,
                         int depth = 0) {
  // A product of products has exponentially many factors.
  constexpr int kMaxDepth = 8;
  Operation *op = table.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (auto tableOp = dyn_cast<TableOp>(op)) {
    visit(tableOp);
    return true;
  }
  if (auto compose = dyn_cast<ComposeOp>(op)) {
    bool left = visitFactors(compose.getLhs(), visit, depth + 1);
    return visitFactors(compose.getRhs(), visit, depth + 1) && left;
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return visitFactors(cast.getSource(), visit, depth + 1);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slicesWholeEntries(slice) &&
           visitFactors(slice.getSource(), visit, depth + 1);
  return false;
}

/// Whether a table is made of schedules for each of which `predicate` holds.
static bool isMadeOf(Value table, function_ref<bool(TableOp)> predicate) {
  bool all = true;
  return visitFactors(table,
                      [&](TableOp factor) { all &= predicate(factor); }) &&
         all;
}

static bool hasMagnitudeOne(TableOp table) {
  return table.getFrequencies().computeMagnitude() == 1;
}

bool rope::isUnitTable(Value table) { return isMadeOf(table, hasMagnitudeOne); }

bool rope::mayHaveF32Angles(Value table) {
  bool found = false;
  visitFactors(table, [&](TableOp factor) {
    found |= factor.getAngleMode() != AngleMode::Exact;
  });
  return found;
}

bool rope::isInvertibleTable(Value table) {
  return isMadeOf(table, [](TableOp) { return true; });
}

/// Whether every row of a table is at position 0.
static bool isAtPositionZero(TableOp table) {
  Value positions = table.getPositions();
  if (!isa<ShapedType>(positions.getType())) {
    // Row r is at the start plus r.
    auto rows = cast<ShapedType>(table.getInit().getType()).getDimSize(0);
    return rows == 1 && matchPattern(positions, m_Zero());
  }
  return matchPattern(positions, m_Zero()) ||
         matchPattern(positions, m_AnyZeroFloat());
}

bool rope::isIdentityTable(Value table) {
  return isMadeOf(table, [](TableOp tableOp) {
    if (!hasMagnitudeOne(tableOp))
      return false;
    if (isAtPositionZero(tableOp))
      return true;
    std::optional<SmallVector<double>> w = getConstantFrequencies(tableOp);
    return w && llvm::all_of(*w, [](double wi) { return wi == 0; });
  });
}

//===----------------------------------------------------------------------===//
// Uses of tables
//===----------------------------------------------------------------------===//

RotaryAttr RotationSite::getRotary() const {
  return cast<RotaryAttr>(table->getOwner()->getAttr(rotaryName));
}

void RotationSite::setRotary(RotaryAttr rotary) const {
  table->getOwner()->setAttr(rotaryName, rotary);
}

int64_t RotationSite::getNumPairs() const {
  return getRotary().getNumPairs(getTableWidth(table->get()));
}

SmallVector<RotationSite> rope::getRotationSites(Operation *op) {
  SmallVector<RotationSite> sites;
  auto add = [&](MutableOperandRange table, StringAttr rotaryName,
                 std::optional<OperandRole> role) {
    if (!table.empty())
      sites.push_back({&table[0], rotaryName, role});
  };
  auto addQueryAndKey = [&](auto attention) {
    add(attention.getQueryTableMutable(), attention.getQueryRotaryAttrName(),
        OperandRole::Query);
    add(attention.getKeyTableMutable(), attention.getKeyRotaryAttrName(),
        OperandRole::Key);
  };
  TypeSwitch<Operation *>(op)
      .Case<RotateOp, RerotateOp>([&](auto rotate) {
        add(rotate.getTableMutable(), rotate.getRotaryAttrName(), std::nullopt);
      })
      .Case<LinearAttentionOp>(addQueryAndKey)
      .Case<OnlineAttentionOp>([&](auto attention) {
        addQueryAndKey(attention);
        add(attention.getValueTableMutable(),
            attention.getValueRotaryAttrName(), OperandRole::Value);
      })
      .Case<AttentionOp>([&](auto attention) {
        addQueryAndKey(attention);
        add(attention.getValueTableMutable(),
            attention.getValueRotaryAttrName(), OperandRole::Value);
        add(attention.getOutputTableMutable(),
            attention.getOutputRotaryAttrName(), OperandRole::Output);
      });
  return sites;
}

void rope::eraseOptionalOperand(Operation *op, unsigned index) {
  StringRef name =
      OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr();
  SmallVector<int32_t> sizes(
      cast<DenseI32ArrayAttr>(op->getAttr(name)).asArrayRef());
  int64_t end = 0;
  for (int32_t &size : sizes) {
    end += size;
    if (index < end) {
      --size;
      break;
    }
  }
  op->eraseOperand(index);
  op->setAttr(name, DenseI32ArrayAttr::get(op->getContext(), sizes));
}

void rope::eraseRotation(const RotationSite &site) {
  Operation *op = site.table->getOwner();
  op->removeAttr(site.rotaryName);
  eraseOptionalOperand(op, site.table->getOperandNumber());
}

bool rope::readsWhatIsWritten(RotaryAttr reader, RotaryAttr writer,
                              int64_t pairs) {
  // A single pair is the same channels in either pairing.
  return reader.getReadChannels(0, pairs) ==
             writer.getWrittenChannels(0, pairs) &&
         (pairs == 1 || reader.getReadPairing() == writer.getWritePairing());
}

bool rope::keepsChannels(RotaryAttr rotary, int64_t pairs) {
  return readsWhatIsWritten(rotary, rotary, pairs);
}
