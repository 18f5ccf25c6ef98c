//===- RotaryAttr.cpp - How an operand is rotated -------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax, verification and channel arithmetic of #rope.rotary.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/Rope.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static FailureOr<Pairing> parsePairing(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Pairing> pairing = symbolizePairing(keyword))
    return *pairing;
  parser.emitError(loc) << "expected 'half' or 'interleaved', got '" << keyword
                        << "'";
  return failure();
}

/// Parses `keyword = value` if the keyword comes next.
static ParseResult parseOptionalField(AsmParser &parser, StringRef keyword,
                                      function_ref<ParseResult()> parseValue) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  return failure(parser.parseEqual() || parseValue());
}

static ParseResult parseBool(AsmParser &parser, bool &value) {
  value = succeeded(parser.parseOptionalKeyword("true"));
  return value ? ParseResult(success()) : parser.parseKeyword("false");
}

Attribute RotaryAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<Pairing> read = parsePairing(parser);
  if (failed(read))
    return {};
  FailureOr<Pairing> write = read;
  if (succeeded(parser.parseOptionalKeyword("to")))
    write = parsePairing(parser);
  int64_t offset = 0, distance = -1;
  bool full = false;
  SmallVector<int64_t> along;
  auto parseDim = [&] { return parser.parseInteger(along.emplace_back()); };
  if (failed(write) || parseOptionalField(parser, "offset", [&] {
        return parser.parseInteger(offset);
      }))
    return {};
  bool hasDistance = false;
  if (parseOptionalField(parser, "distance",
                         [&] {
                           hasDistance = true;
                           return parser.parseInteger(distance);
                         }) ||
      parser.parseKeyword("along") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parseOptionalField(parser, "full",
                         [&] { return parseBool(parser, full); }) ||
      parser.parseGreater())
    return {};
  return RotaryAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), *read, *write,
      offset, hasDistance ? std::optional<int64_t>(distance) : std::nullopt,
      ArrayRef<int64_t>(along), full);
}

void RotaryAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyPairing(getReadPairing());
  if (getWritePairing() != getReadPairing())
    printer << " to " << stringifyPairing(getWritePairing());
  if (getOffset() != 0)
    printer << " offset = " << getOffset();
  if (getDistance())
    printer << " distance = " << *getDistance();
  printer << " along [";
  llvm::interleaveComma(getAlong(), printer);
  printer << "]" << (getFull() ? " full = true" : "") << ">";
}

LogicalResult RotaryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Pairing read, Pairing write, int64_t offset,
                                 std::optional<int64_t> distance,
                                 ArrayRef<int64_t> along, bool full) {
  if (offset < 0)
    return emitError() << "offset must not be negative, got " << offset;
  if (distance && *distance <= 0)
    return emitError() << "distance must be positive, got " << *distance;
  if (distance && read == Pairing::Interleaved && write == Pairing::Interleaved)
    return emitError() << "interleaved pairs have no distance";
  llvm::SmallSet<int64_t, 4> seen;
  for (int64_t dim : along)
    if (dim < 0 || !seen.insert(dim).second)
      return emitError() << "along must list distinct dims, got [" << along
                         << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

static std::pair<int64_t, int64_t>
getChannels(RotaryAttr rotary, Pairing pairing, int64_t i, int64_t pairs) {
  int64_t offset = rotary.getOffset();
  if (pairing == Pairing::Interleaved)
    return {offset + 2 * i, offset + 2 * i + 1};
  return {offset + i, offset + i + rotary.getDistance().value_or(pairs)};
}

std::pair<int64_t, int64_t> RotaryAttr::getReadChannels(int64_t i,
                                                        int64_t pairs) const {
  return getChannels(*this, getReadPairing(), i, pairs);
}

std::pair<int64_t, int64_t>
RotaryAttr::getWrittenChannels(int64_t i, int64_t pairs) const {
  return getChannels(*this, getWritePairing(), i, pairs);
}

std::pair<int64_t, int64_t> RotaryAttr::getTableEntries(int64_t i,
                                                        int64_t pairs) const {
  if (!getFull())
    return {i, i};
  if (getReadPairing() == Pairing::Interleaved)
    return {2 * i, 2 * i + 1};
  return {i, pairs + i};
}

RotaryAttr RotaryAttr::withAlong(ArrayRef<int64_t> along) const {
  return RotaryAttr::get(getContext(), getReadPairing(), getWritePairing(),
                         getOffset(), getDistance(), along, getFull());
}

//===----------------------------------------------------------------------===//
// Verification against an operand and its table
//===----------------------------------------------------------------------===//

/// C1 to C3: the channels of the pairs.
static LogicalResult
verifyChannels(RotaryAttr rotary, ShapedType operand, int64_t width,
               StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  // rope.rotary C1
  if (ShapedType::isDynamic(width) || width <= 0)
    return emitError() << "table of " << name
                       << " must have a static, positive width";
  if (rotary.getFull() && width % 2 != 0)
    return emitError() << "full table of " << name
                       << " must have an even width, got " << width;
  // rope.rotary C2
  int64_t pairs = rotary.getNumPairs(width);
  int64_t channels = operand.getRank() ? operand.getShape().back() : 0;
  if (ShapedType::isDynamic(channels))
    return emitError() << name << " must have a static last dim";
  bool half = rotary.getReadPairing() == Pairing::Half;
  int64_t distance = half ? rotary.getDistance().value_or(pairs) : pairs;
  if (distance < pairs)
    return emitError() << "distance " << distance << " of " << name
                       << " puts a channel into two of its " << pairs
                       << " pairs";
  // The numbers are a user's: no sum of them before each is known to be small.
  if (pairs > channels / 2 || rotary.getOffset() >= channels ||
      distance >= channels ||
      rotary.getReadChannels(pairs - 1, pairs).second >= channels)
    return emitError() << name << " has " << channels
                       << " channels, too few for " << pairs
                       << " pairs at offset " << rotary.getOffset();
  // rope.rotary C3
  if (rotary.getReadPairing() != rotary.getWritePairing() &&
      rotary.getDistance().value_or(pairs) != pairs)
    return emitError() << name << " is read with distance "
                       << *rotary.getDistance()
                       << " and written to other channels";
  return success();
}

/// C4 and C5: the dims that the table follows.
static LogicalResult verifyAlong(RotaryAttr rotary, ShapedType operand,
                                 ShapedType table, StringRef name,
                                 function_ref<InFlightDiagnostic()> emitError) {
  // rope.rotary C4
  ArrayRef<int64_t> along = rotary.getAlong();
  int64_t leading = table.getRank() - 2;
  if (static_cast<int64_t>(along.size()) != leading)
    return emitError() << "table of " << name << " has " << leading
                       << " leading dims, but along lists " << along.size();
  for (auto [i, dim] : llvm::enumerate(along)) {
    if (dim >= operand.getRank() - 1)
      return emitError() << "along names dim " << dim << " of " << name
                         << ", which has " << operand.getRank() - 1
                         << " dims before its channels";
    // rope.rotary C5
    int64_t have = table.getDimSize(i), want = operand.getDimSize(dim);
    if (!ShapedType::isDynamic(have) && !ShapedType::isDynamic(want) &&
        have != want)
      return emitError() << "dim " << i << " of the table of " << name
                         << " has extent " << have << ", but dim " << dim
                         << " of " << name << " has " << want;
  }
  return success();
}

LogicalResult
RotaryAttr::verifyFor(ShapedType operand, ShapedType table, StringRef name,
                      function_ref<InFlightDiagnostic()> emitError) const {
  if (table.getRank() < 2 || table.getDimSize(table.getRank() - 2) != 2)
    return emitError() << "table of " << name
                       << " must have the shape [lead..., 2, W], got " << table;
  if (failed(verifyChannels(*this, operand, table.getShape().back(), name,
                            emitError)))
    return failure();
  return verifyAlong(*this, operand, table, name, emitError);
}
