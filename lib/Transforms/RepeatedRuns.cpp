//===- RepeatedRuns.cpp - Ops that do the same more than once -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks are words over an alphabet of ops that differ in more than operands,
// and LLVM's suffix tree finds what repeats in a word.
//
//===----------------------------------------------------------------------===//

#include "RepeatedRuns.h"

#include "ArgumentAttrs.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/SuffixTree.h"

using namespace mlir;
using namespace mlir::rope;
using llvm::SuffixTree;

bool rope::isRemade(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.hasPureTensorSemantics() &&
           matchPattern(fill.value(), m_Constant()) &&
           fill.output().getDefiningOp<tensor::EmptyOp>();
  // Products read panels of a weight where they lie.
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return isWeight(unpack.getSource());
  return isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

bool rope::isPartOfArgument(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isa<BlockArgument>(slice.getSource()) && op->getNumOperands() == 1;
  if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) ||
      op->getNumOperands() != 1)
    return false;
  Operation *source = op->getOperand(0).getDefiningOp();
  return source && isPartOfArgument(source);
}

bool rope::areSimilar(Operation *a, Operation *b) {
  return OperationEquivalence::isEquivalentTo(
      a, b,
      [](Value x, Value y) { return success(x.getType() == y.getType()); },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {
// Equality is likeness.
struct OpInfo : DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    return OperationEquivalence::computeHash(
        op, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(Operation *a, Operation *b) {
    return a == b || (!isSpecial(a) && !isSpecial(b) && areSimilar(a, b));
  }
  static bool isSpecial(Operation *op) {
    return op == getEmptyKey() || op == getTombstoneKey();
  }
};

// The ops of blocks as one word. The letter of an op is the first place of
// those that are equal to it; the end of a block has a letter of its own.
class Word {
public:
  explicit Word(ArrayRef<Block *> blocks) {
    for (Block *block : blocks)
      for (Operation &op : *block)
        if (!isRemade(&op) && !isPartOfArgument(&op))
          append(&op);
    used.resize(ops.size());
  }

  ArrayRef<unsigned> getLetters() const { return letters; }
  Run getOps(ArrayRef<unsigned> places) const {
    return llvm::map_to_vector(places, [&](unsigned i) { return ops[i]; });
  }
  bool isUsed(ArrayRef<unsigned> places) const {
    return llvm::any_of(places, [&](unsigned i) { return used[i]; });
  }
  void use(ArrayRef<unsigned> places) {
    for (unsigned i : places)
      used[i] = true;
  }
  /// Finds letters that follow each other from `start` on, in one block, if
  /// need be with ops between them that can stand elsewhere. Returns the places
  /// of as many as there are.
  SmallVector<unsigned> follow(ArrayRef<unsigned> wanted, unsigned start) const;

private:
  void append(Operation *op) {
    unsigned place = ops.size();
    letters.push_back(op->hasTrait<OpTrait::IsTerminator>()
                          ? place
                          : first.try_emplace(op, place).first->second);
    ops.push_back(op);
  }

  SmallVector<Operation *> ops;
  SmallVector<unsigned> letters;
  // Whether a run has the op.
  SmallVector<bool> used;
  DenseMap<Operation *, unsigned, OpInfo> first;
};
} // namespace

SmallVector<unsigned> Word::follow(ArrayRef<unsigned> wanted,
                                   unsigned start) const {
  SmallVector<unsigned> places;
  size_t end = std::min(ops.size(), start + 2 * wanted.size());
  for (unsigned i = start; i < end && places.size() < wanted.size(); ++i) {
    if (used[i] || ops[i]->getBlock() != ops[start]->getBlock())
      break;
    if (letters[i] == wanted[places.size()])
      places.push_back(i);
    else if (places.empty() || !isMemoryEffectFree(ops[i]))
      break;
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

namespace {
// Letters that are found at more than one place.
struct Repeat {
  unsigned length;
  SmallVector<unsigned> starts;

  SmallVector<unsigned> getPlaces(unsigned start) const {
    return llvm::to_vector(llvm::seq(start, start + length));
  }
  /// The number of ops that are saved.
  size_t getGain() const { return length * (starts.size() - 1); }
};
} // namespace

// Sorts the starts and drops those that begin before another ends.
static void dropOverlaps(Repeat &repeat) {
  llvm::sort(repeat.starts);
  unsigned end = 0;
  llvm::erase_if(repeat.starts, [&](unsigned start) {
    if (start < end)
      return true;
    end = start + repeat.length;
    return false;
  });
}

// Those first that save most.
static SmallVector<Repeat> collectRepeats(ArrayRef<unsigned> letters) {
  SmallVector<Repeat> repeats;
  SuffixTree tree(letters, /*OutlinerLeafDescendants=*/true);
  for (const SuffixTree::RepeatedSubstring &found : tree) {
    Repeat repeat = {found.Length, found.StartIndices};
    dropOverlaps(repeat);
    if (repeat.starts.size() > 1)
      repeats.push_back(std::move(repeat));
  }
  llvm::sort(repeats, [](const Repeat &a, const Repeat &b) {
    return std::tuple(b.getGain(), a.length, a.starts.front()) <
           std::tuple(a.getGain(), b.length, b.starts.front());
  });
  return repeats;
}

// The first of many layers often has ops between its own that serve all.
static SmallVector<Run> takeRuns(Word &word, const Repeat &repeat) {
  SmallVector<Run> runs;
  auto take = [&](ArrayRef<unsigned> places) {
    word.use(places);
    runs.push_back(word.getOps(places));
  };
  for (unsigned start : repeat.starts)
    take(repeat.getPlaces(start));
  ArrayRef<unsigned> wanted =
      word.getLetters().slice(repeat.starts.front(), repeat.length);
  for (unsigned start = 0; start < word.getLetters().size(); ++start) {
    SmallVector<unsigned> places = word.follow(wanted, start);
    if (places.size() == wanted.size())
      take(places);
  }
  return runs;
}

SmallVector<SmallVector<Run>>
rope::findRepeatedRuns(ArrayRef<Block *> blocks,
                       function_ref<bool(ArrayRef<Operation *>)> isWorthwhile) {
  Word word(blocks);
  SmallVector<SmallVector<Run>> found;
  for (Repeat &repeat : collectRepeats(word.getLetters())) {
    llvm::erase_if(repeat.starts, [&](unsigned start) {
      return word.isUsed(repeat.getPlaces(start));
    });
    if (repeat.starts.size() > 1 &&
        isWorthwhile(word.getOps(repeat.getPlaces(repeat.starts.front()))))
      found.push_back(takeRuns(word, repeat));
  }
  return found;
}
