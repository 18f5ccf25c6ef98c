//===- Layout.cpp - Dimension letters -------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rearrangement splits the groups of the source, permutes the letters that
// both layouts have, broadcasts those which are new, and merges the groups of
// the result.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Layout.h"

using namespace mlir::rope::reference;

namespace {
/// The dims of a layout, each as the letters that it is made of. A unit dim has
/// no letter.
using Items = std::vector<std::string>;

/// A rearrangement, resolved against the shape of its source.
struct Plan {
  MaybeError error;
  Items to;
  /// The letters of the source, outermost first.
  std::string letters;
  Extents extents;
};
} // namespace

/// Splits the text of a layout. Nothing if it is malformed.
static std::optional<Items> parseLayout(std::string_view text) {
  Items items;
  bool grouped = false;
  for (char c : text) {
    if (c == '(' || c == ')') {
      if (grouped == (c == '('))
        return std::nullopt;
      grouped = !grouped;
      if (grouped)
        items.emplace_back();
    } else if (c == '1') {
      if (grouped)
        return std::nullopt;
      items.emplace_back();
    } else if (c >= 'a' && c <= 'z') {
      if (!grouped)
        items.emplace_back();
      items.back() += c;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return grouped ? std::nullopt : std::optional<Items>(items);
}

static std::string join(const Items &items) {
  std::string letters;
  for (const std::string &item : items)
    letters += item;
  return letters;
}

static bool hasRepeatedLetter(const std::string &letters) {
  for (size_t i = 0; i < letters.size(); ++i)
    if (letters.find(letters[i], i + 1) != std::string::npos)
      return true;
  return false;
}

/// Gives the letters of one source dim their extents. False if they do not
/// multiply to the dim's.
static bool resolveItem(const std::string &item, int64_t extent,
                        const Extents &given, Extents &extents) {
  int64_t known = 1;
  char missing = 0;
  for (char letter : item) {
    auto it = given.find(letter);
    if (it == given.end() && missing)
      return false;
    if (it == given.end()) {
      missing = letter;
      continue;
    }
    extents[letter] = it->second;
    known *= it->second;
  }
  if (!missing)
    return known == extent;
  if (known <= 0 || extent % known != 0)
    return false;
  extents[missing] = extent / known;
  return true;
}

/// Gives the letters that only the result has their extents, and finds dropped
/// letters that are not unit dims.
static void resolveResult(const Extents &given, Plan &plan) {
  std::string toLetters = join(plan.to);
  for (char letter : toLetters)
    if (!plan.extents.count(letter)) {
      auto it = given.find(letter);
      plan.extents[letter] = it == given.end() ? 1 : it->second;
      if (plan.extents[letter] < 0)
        plan.error = std::string("negative extent of ") + letter;
    }
  for (char letter : plan.letters)
    if (toLetters.find(letter) == std::string::npos &&
        plan.extents[letter] != 1)
      plan.error = std::string("dim ") + letter + " of extent " +
                   std::to_string(plan.extents[letter]) + " cannot be dropped";
}

static Plan makePlan(const Shape &shape, std::string_view from,
                     std::string_view to, const Extents &given) {
  Plan plan;
  std::optional<Items> fromItems = parseLayout(from), toItems = parseLayout(to);
  if (!fromItems || !toItems) {
    plan.error = "malformed layout " + std::string(fromItems ? to : from);
    return plan;
  }
  plan.to = *toItems;
  plan.letters = join(*fromItems);
  if (hasRepeatedLetter(plan.letters) || hasRepeatedLetter(join(plan.to)))
    plan.error = "a letter occurs twice in a layout";
  if (fromItems->size() != shape.size())
    plan.error = "layout " + std::string(from) + " does not fit the shape " +
                 toString(shape);
  for (size_t i = 0; !plan.error && i < shape.size(); ++i) {
    const std::string &item = (*fromItems)[i];
    if (!resolveItem(item, shape[i], given, plan.extents))
      plan.error = "cannot split extent " + std::to_string(shape[i]) + " as (" +
                   item + ")";
  }
  if (!plan.error)
    resolveResult(given, plan);
  return plan;
}

MaybeError mlir::rope::reference::findLayoutError(const Shape &shape,
                                                  std::string_view from,
                                                  std::string_view to,
                                                  const Extents &extents) {
  return makePlan(shape, from, to, extents).error;
}

Array mlir::rope::reference::rearrange(const Array &array,
                                       std::string_view from,
                                       std::string_view to,
                                       const Extents &extents) {
  Plan plan = makePlan(array.getShape(), from, to, extents);
  if (plan.error)
    reportInvalid(*plan.error);

  // Dropped letters are unit dims: put them in front, where a reshape drops
  // them. New ones start as unit dims in their place.
  Shape splitShape, broadcastFrom, broadcastShape, resultShape;
  std::vector<int64_t> permutation;
  std::string toLetters = join(plan.to);
  for (size_t i = 0; i < plan.letters.size(); ++i) {
    splitShape.push_back(plan.extents[plan.letters[i]]);
    if (toLetters.find(plan.letters[i]) == std::string::npos)
      permutation.push_back(static_cast<int64_t>(i));
  }
  for (char letter : toLetters) {
    size_t source = plan.letters.find(letter);
    bool isNew = source == std::string::npos;
    if (!isNew)
      permutation.push_back(static_cast<int64_t>(source));
    broadcastFrom.push_back(isNew ? 1 : plan.extents[letter]);
    broadcastShape.push_back(plan.extents[letter]);
  }
  for (const std::string &item : plan.to) {
    resultShape.push_back(1);
    for (char letter : item)
      resultShape.back() *= plan.extents[letter];
  }
  return array.reshape(splitShape)
      .permute(permutation)
      .reshape(broadcastFrom)
      .broadcastTo(broadcastShape)
      .reshape(resultShape);
}
