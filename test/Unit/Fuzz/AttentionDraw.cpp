//===- AttentionDraw.cpp - Random operands of attention -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDraw.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
/// The letters of a role: those it may have, those it must have, its default.
struct Letters {
  std::string allowed, required;
  std::vector<std::string> defaults;
};
} // namespace

static Letters getLetters(OperandRole role) {
  switch (role) {
  case OperandRole::Query:
    return {"bhgmd", "d", {"b", "(hg)", "m", "d"}};
  case OperandRole::Key:
    return {"bhnd", "nd", {"b", "h", "n", "d"}};
  case OperandRole::Value:
    return {"bhne", "ne", {"b", "h", "n", "e"}};
  case OperandRole::Output:
    return {"bhgme", "e", {"b", "(hg)", "m", "e"}};
  case OperandRole::Mask:
    return {"bhgmn", "", {"b", "(hg)", "m", "n"}};
  case OperandRole::QueryPos:
    return {"bm", "", {"b", "m"}};
  case OperandRole::KeyPos:
    return {"bn", "", {"b", "n"}};
  case OperandRole::KeyLength:
    return {"b", "", {"b"}};
  case OperandRole::Sink:
    return {"hg", "", {"(hg)"}};
  case OperandRole::Lse:
  case OperandRole::Sum:
    return {"bhgm", "", {"b", "(hg)", "m"}};
  case OperandRole::KvState:
    return {"bhde", "de", {"b", "h", "d", "e"}};
  case OperandRole::KSum:
    return {"bhd", "d", {"b", "h", "d"}};
  }
  llvm_unreachable("unknown role");
}

static bool contains(const std::string &text, char letter) {
  return text.find(letter) != std::string::npos;
}

static std::string join(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += item;
  return text;
}

std::string DrawnDims::getLetters() const { return join(items); }

AttentionDraw::AttentionDraw(CaseBuilder &b) : b(b), draw(b.draw) {
  auto extent = [&](int64_t high, double empty = 0) {
    if (draw.chance(0.2))
      return int64_t(1);
    return draw.chance(empty) ? int64_t(0) : draw.range(1, high);
  };
  extents = {{'b', extent(3, 0.02)}, {'h', extent(3)},       {'g', extent(3)},
             {'m', extent(7, 0.03)}, {'n', extent(9, 0.03)}, {'d', extent(16)},
             {'e', extent(12)}};
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Inits have a place for everything that is computed; the rest of the operands
/// may be shared along whatever they lack.
bool AttentionDraw::mayLack(OperandRole role, char letter) {
  if (contains(getLetters(role).required, letter))
    return false;
  return initsDrawn || extents.at(letter) == 1;
}

/// The default dims of some rank: leading ones are left out, or the group is
/// split in two.
std::vector<std::string> AttentionDraw::drawDefaultItems(OperandRole role) {
  std::vector<std::string> items = getLetters(role).defaults;
  auto group = std::find(items.begin(), items.end(), "(hg)");
  if (group != items.end() && draw.chance(0.3)) {
    *group = "h";
    items.insert(group + 1, "g");
    return items;
  }
  auto mayDrop = [&](const std::string &item) {
    return llvm::all_of(
        item, [&](char c) { return c == '(' || c == ')' || mayLack(role, c); });
  };
  while (!items.empty() && mayDrop(items.front()) && draw.chance(0.3))
    items.erase(items.begin());
  return items;
}

std::vector<std::string> AttentionDraw::drawItems(OperandRole role,
                                                  bool isRotated) {
  Letters letters = getLetters(role);
  std::string kept;
  for (char letter : letters.allowed)
    if (!mayLack(role, letter) || draw.chance(0.7))
      kept += letter;
  std::vector<std::string> items;
  bool grouped = contains(kept, 'h') && contains(kept, 'g') && draw.chance(0.6);
  for (char letter : kept) {
    if (grouped && letter == 'g')
      continue;
    items.push_back(grouped && letter == 'h' ? "(hg)" : std::string(1, letter));
  }
  if (draw.chance(0.1))
    items.push_back("1");
  if (draw.chance(0.5))
    draw.shuffle(items);
  if (!isRotated)
    return items;
  // Channels last.
  std::string channels(1, letters.required.back());
  items.erase(std::find(items.begin(), items.end(), channels));
  items.push_back(channels);
  return items;
}

bool AttentionDraw::isClosed(StringRef item) const {
  return llvm::any_of(item, [&](char c) { return contains(closed, c); });
}

DrawnDims AttentionDraw::makeDims(OperandRole role,
                                  std::vector<std::string> items,
                                  bool isRotated, bool isDefault) {
  DrawnDims dims;
  for (std::string &item : items) {
    // By default a static extent of 1 in a mask is shared.
    if (isDefault && role == OperandRole::Mask && draw.chance(0.4))
      item = "1";
    int64_t extent = 1;
    for (char letter : item)
      if (extents.count(letter))
        extent *= extents.at(letter);
    dims.shape.push_back(extent);
    dims.keepStatic.push_back((isDefault && item == "1") || isClosed(item));
  }
  if (isRotated)
    dims.keepStatic.back() = true;
  dims.items = std::move(items);
  return dims;
}

DrawnDims AttentionDraw::drawDims(OperandRole role, bool isRotated) {
  initsDrawn = true;
  bool isDefault = draw.chance(0.5);
  DrawnDims dims = makeDims(
      role, isDefault ? drawDefaultItems(role) : drawItems(role, isRotated),
      isRotated, isDefault);
  if (!isDefault)
    layout[role] = dims.getLetters();
  return dims;
}

DrawnDims AttentionDraw::drawInitDims(OperandRole role) {
  bool isDefault = draw.chance(0.5);
  std::vector<std::string> items =
      isDefault ? drawDefaultItems(role) : drawItems(role, false);
  // The channels of an output may be turned.
  DrawnDims dims = makeDims(role, items, /*isRotated=*/false, isDefault);
  std::string letters = dims.getLetters();
  if (!isDefault)
    layout[role] = letters;
  for (char letter : StringRef("bhgm"))
    if (contains(getLetters(role).allowed, letter) &&
        !contains(letters, letter))
      // The other half of a group tells what is left open of this one.
      closed += letter == 'h' || letter == 'g' ? std::string("hg")
                                               : std::string(1, letter);
  return dims;
}

LayoutAttr AttentionDraw::getLayout() {
  if (layout.empty())
    return {};
  auto get = [&](OperandRole role) {
    auto it = layout.find(role);
    return it == layout.end() ? StringAttr()
                              : b.builder.getStringAttr(it->second);
  };
  return LayoutAttr::get(
      b.builder.getContext(), get(OperandRole::Query), get(OperandRole::Key),
      get(OperandRole::Value), get(OperandRole::Output), get(OperandRole::Mask),
      get(OperandRole::QueryPos), get(OperandRole::KeyPos),
      get(OperandRole::KeyLength), get(OperandRole::Sink),
      get(OperandRole::Lse), get(OperandRole::KvState), get(OperandRole::KSum));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Operand AttentionDraw::addInit(const DrawnDims &dims, Type type,
                               const reference::Array *contents) {
  SmallVector<bool> keep = dims.keepStatic;
  for (auto [kept, item] : llvm::zip_equal(keep, dims.items))
    kept |= isClosed(item);
  return b.addInit(dims.shape, type, keep, contents);
}

Operand AttentionDraw::addFloats(const DrawnDims &dims, Type type, double low,
                                 double high) {
  return b.addRandom(dims.shape, type, dims.keepStatic, low, high);
}

reference::Array AttentionDraw::toCanonical(const reference::Array &numbers,
                                            const DrawnDims &dims,
                                            StringRef letters) const {
  return reference::rearrange(numbers, dims.getLetters(), letters.str(),
                              extents);
}

reference::Array AttentionDraw::fromCanonical(const reference::Array &numbers,
                                              const DrawnDims &dims,
                                              StringRef letters) const {
  return reference::rearrange(numbers, letters.str(), dims.getLetters(),
                              extents);
}

DrawnRotation
AttentionDraw::drawRoleRotation(const DrawnDims &dims, StringRef letters,
                                reference::RoleRotation &canonical) {
  DrawnRotation rotation = drawRotation(b, dims.shape);
  // A table that follows some dims, as one that follows all of the reference's.
  std::string from;
  for (int64_t dim : rotation.rotary.along)
    from += dims.items[dim];
  reference::Extents all = extents;
  all['x'] = 2;
  all['y'] = rotation.table.table.numbers.getShape().back();
  canonical.table = reference::rearrange(
      rotation.table.table.numbers, from + "xy", letters.str() + "xy", all);
  canonical.rotary = rotation.rotary;
  canonical.rotary.along.resize(letters.size());
  std::iota(canonical.rotary.along.begin(), canonical.rotary.along.end(), 0);
  return rotation;
}
