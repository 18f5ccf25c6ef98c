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

// Of all repeats together. In a word of one letter there are quadratically
// many, and the short ones that are looked at first save most.
static constexpr size_t kMaxStarts = 1 << 23;

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

// The arguments that an op puts its result in.
static DenseSet<Value> collectWritten(Block &block) {
  DenseSet<Value> written;
  for (Operation &op : block)
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      for (Value init : destination.getDpsInits())
        if (isa<BlockArgument>(init))
          written.insert(init);
  return written;
}

DenseSet<Operation *> rope::findPartsOfArguments(ArrayRef<Block *> blocks) {
  DenseSet<Operation *> parts;
  for (Block *block : blocks) {
    DenseSet<Value> written = collectWritten(*block);
    for (Operation &op : *block) {
      if (op.getNumOperands() != 1)
        continue;
      Value source = op.getOperand(0);
      if (isa<tensor::ExtractSliceOp>(op)
              ? isa<BlockArgument>(source) && !written.contains(source)
              : isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
                    parts.contains(source.getDefiningOp()))
        parts.insert(&op);
    }
  }
  return parts;
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
  Word(ArrayRef<Block *> blocks, const DenseSet<Operation *> &parts,
       function_ref<bool(Operation *)> isProduct) {
    for (Block *block : blocks)
      for (Operation &op : *block)
        if (!isRemade(&op) && !parts.contains(&op))
          append(&op, isProduct(&op));
    used.resize(ops.size());
  }

  ArrayRef<unsigned> getLetters() const { return letters; }
  Run getOps(ArrayRef<unsigned> places) const {
    return llvm::map_to_vector(places, [&](unsigned i) { return ops[i]; });
  }
  unsigned countProducts(unsigned start, unsigned length) const {
    return products[start + length] - products[start];
  }
  bool isUsed(unsigned start, unsigned length) const {
    return llvm::is_contained(ArrayRef(used).slice(start, length), true);
  }
  /// Of ops between those of a run some follow a call of it, and others do not:
  /// they make no run that is in order.
  void use(ArrayRef<unsigned> places) {
    for (unsigned i = places.front(); i <= places.back(); ++i)
      used[i] = true;
  }
  /// Finds letters that follow each other from `start` on, in one block, if
  /// need be with ops between them that can stand elsewhere. Returns the places
  /// of as many as there are.
  SmallVector<unsigned> follow(ArrayRef<unsigned> wanted, unsigned start) const;

private:
  void append(Operation *op, bool isProduct) {
    unsigned place = ops.size();
    letters.push_back(op->hasTrait<OpTrait::IsTerminator>()
                          ? place
                          : first.try_emplace(op, place).first->second);
    ops.push_back(op);
    products.push_back(products.back() + isProduct);
  }

  SmallVector<Operation *> ops;
  SmallVector<unsigned> letters;
  // How many there are before each op.
  SmallVector<unsigned> products = {0};
  // Whether a run has the op, or has it between its own.
  SmallVector<bool> used;
  DenseMap<Operation *, unsigned, OpInfo> first;
};
} // namespace

SmallVector<unsigned> Word::follow(ArrayRef<unsigned> wanted,
                                   unsigned start) const {
  SmallVector<unsigned> places;
  size_t end = std::min(ops.size(), start + 3 * wanted.size());
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
static SmallVector<Repeat> collectRepeats(const Word &word,
                                          unsigned minProducts) {
  SmallVector<Repeat> repeats;
  SuffixTree tree(word.getLetters(), /*OutlinerLeafDescendants=*/true);
  size_t numStarts = 0;
  for (const SuffixTree::RepeatedSubstring &found : tree) {
    numStarts += found.StartIndices.size();
    if (numStarts > kMaxStarts)
      break;
    if (word.countProducts(found.StartIndices.front(), found.Length) <
        minProducts)
      continue;
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

SmallVector<SmallVector<Run>> rope::findRepeatedRuns(
    ArrayRef<Block *> blocks, const DenseSet<Operation *> &parts,
    function_ref<bool(Operation *)> isProduct, unsigned minProducts) {
  Word word(blocks, parts, isProduct);
  SmallVector<SmallVector<Run>> found;
  for (Repeat &repeat : collectRepeats(word, minProducts)) {
    llvm::erase_if(repeat.starts, [&](unsigned start) {
      return word.isUsed(start, repeat.length);
    });
    if (repeat.starts.size() > 1)
      found.push_back(takeRuns(word, repeat));
  }
  return found;
}
