//===- KeyBands.cpp - Masks that are bands of keys ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A comparison of n with m shifted by a constant is a band; everything else
// stays an expression.
//
//===----------------------------------------------------------------------===//

#include "rope/Analysis/KeyBands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "rope/Analysis/ConstantData.h"

using namespace mlir;
using namespace mlir::rope;

void KeyBandFinder::allowPositions(const Expr *batchSymbol, bool length) {
  positions = true;
  lengths = length;
  batch = batchSymbol;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
/// A comparison of integers as lhs − rhs ≤ most, or as rhs − lhs ≤ most.
struct Bound {
  int64_t most;
  bool isOpposite;
};
} // namespace

static std::optional<Bound> getBound(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return Bound{0, false};
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return Bound{-1, false};
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return Bound{0, true};
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return Bound{-1, true};
  default:
    return std::nullopt;
  }
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::ult ||
         predicate == arith::CmpIPredicate::ule ||
         predicate == arith::CmpIPredicate::ugt ||
         predicate == arith::CmpIPredicate::uge;
}

bool KeyBandFinder::addComparison(const Expr *truth, bool negated) {
  if (!truth->isa<arith::CmpIOp>())
    return false;
  auto predicate = cast<arith::CmpIPredicateAttr>(truth->getAttr()).getValue();
  if (negated)
    predicate = arith::invertPredicate(predicate);
  std::optional<Bound> bound = getBound(predicate);
  if (!bound)
    return false;
  const Expr *lhs = truth->getOperands()[0], *rhs = truth->getOperands()[1];
  // A negative number is a large one to an unsigned comparison.
  for (const Expr *side : {lhs, rhs}) {
    std::optional<int64_t> low = context->getRange(side).low;
    if (isUnsigned(predicate) && (!low || *low < 0))
      return false;
  }
  if (bound->isOpposite)
    std::swap(lhs, rhs);
  return addDifference(context->sub(lhs, rhs), bound->most);
}

/// The multiple of an atom that an integer contains.
static int64_t getCoefficient(const Expr *expr, const Expr *atom) {
  if (!atom)
    return 0;
  if (expr == atom)
    return 1;
  if (expr->getKind() != Expr::Kind::Linear)
    return 0;
  for (auto [operand, coefficient] :
       llvm::zip_equal(expr->getOperands(), expr->getCoefficients()))
    if (operand == atom)
      return coefficient;
  return 0;
}

/// `difference` ≤ `most`, where the difference is n − m, m − n or n and what
/// depends on neither.
bool KeyBandFinder::addDifference(const Expr *difference, int64_t most) {
  int64_t keys = getCoefficient(difference, key);
  int64_t rows = getCoefficient(difference, row);
  const Expr *rest = difference;
  if (keys)
    rest = context->sub(rest, context->mul(key, context->getInt(keys)));
  if (rows)
    rest = context->sub(rest, context->mul(row, context->getInt(rows)));
  // n + rest ≤ most.
  if (keys == 1 && rows == 0)
    return addKeyLength(context->sub(context->getInt(most + 1), rest));
  if (!(keys == 1 && rows == -1) && !(keys == -1 && rows == 1))
    return false;
  int64_t constant = rest->isInt() || rest->getKind() == Expr::Kind::Linear
                         ? rest->getInt()
                         : 0;
  const Expr *start = context->sub(rest, context->getInt(constant));
  // n − (m − start) ≤ most, or (m + start) − n ≤ most.
  if (keys == 1)
    start = context->mul(start, context->getInt(-1));
  return addBand(keys == 1 ? bands.right : bands.left, start, most - constant);
}

/// Whether an integer is the same for all rows and keys of a batch.
bool KeyBandFinder::isPosition(const Expr *expr) {
  SmallVector<const Expr *> queue = {expr};
  llvm::SmallDenseSet<const Expr *> seen;
  while (!queue.empty()) {
    const Expr *next = queue.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (next->getKind() == Expr::Kind::Sym && next != batch)
      return false;
    llvm::append_range(queue, next->getOperands());
  }
  return true;
}

bool KeyBandFinder::addBand(std::optional<int64_t> &side, const Expr *start,
                            int64_t most) {
  // A row must see itself, or its band is no band of attention.
  if (most < 0)
    return false;
  if (start->isInt(0))
    start = nullptr;
  // Each band is of the same positions.
  if (bands.hasBand() ? start != bands.queryStart
                      : start && (!positions || !isPosition(start)))
    return false;
  bands.queryStart = start;
  side = side ? std::min(*side, most) : most;
  return true;
}

bool KeyBandFinder::addKeyLength(const Expr *length) {
  if (!lengths || bands.keyLength || !isPosition(length))
    return false;
  bands.keyLength = length;
  return true;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// A constant as numbers.
class Numbers {
public:
  explicit Numbers(ElementsAttr elements);
  /// The number at a position, or nullopt.
  std::optional<double> get(int64_t position) const;

private:
  Type type;
  DenseElementsAttr dense;
  ConstantReader reader;
};
} // namespace

Numbers::Numbers(ElementsAttr elements)
    : type(elements.getElementType()),
      dense(dyn_cast<DenseElementsAttr>(elements)), reader(elements) {}

std::optional<double> Numbers::get(int64_t position) const {
  if (reader)
    return reader.getNumber(position);
  // One number for all, or bits that are no bytes.
  if (!dense)
    return std::nullopt;
  if (isa<IntegerType>(type))
    return static_cast<double>(
        dense.getValues<APInt>()[position].getZExtValue());
  return FloatAttr::get(type, dense.getValues<APFloat>()[position])
      .getValueAsDouble();
}

namespace {
/// Where a read finds rows and keys in a constant.
struct Access {
  int64_t start = 0;
  int64_t rows = 1, keys = 1;
  int64_t rowStride = 0, keyStride = 0;
};
} // namespace

/// A read at a row and a key, and at constants along other dims.
static std::optional<Access> getAccess(const Expr *read, const Expr *row,
                                       const Expr *key) {
  Access access;
  auto type = cast<RankedTensorType>(read->getValue().getType());
  int64_t stride = type.getNumElements();
  for (auto [extent, i] :
       llvm::zip_equal(type.getShape(), read->getOperands())) {
    stride = extent == 0 ? 0 : stride / extent;
    if (i->isInt() && i->getInt() >= 0 && i->getInt() < extent) {
      access.start += i->getInt() * stride;
      continue;
    }
    if ((i != row && i != key) || ShapedType::isDynamic(i->getExtent()) ||
        i->getExtent() > extent)
      return std::nullopt;
    (i == row ? access.rows : access.keys) = i->getExtent();
    (i == row ? access.rowStride : access.keyStride) = stride;
  }
  if (access.rowStride == 0 || access.keyStride == 0)
    return std::nullopt;
  return access;
}

/// Which keys the rows of a constant see: true or 0, where other numbers are at
/// most `hidden`. Empty for other constants.
static SmallVector<bool> getVisibleKeys(const Expr *read, const Access &access,
                                        double hidden) {
  ElementsAttr elements;
  matchPattern(read->getValue(), m_Constant(&elements));
  Numbers numbers(elements);
  bool isTruth = elements.getElementType().isInteger(1);
  SmallVector<bool> visible;
  visible.reserve(access.rows * access.keys);
  for (int64_t m = 0; m < access.rows; ++m)
    for (int64_t n = 0; n < access.keys; ++n) {
      std::optional<double> number = numbers.get(
          access.start + m * access.rowStride + n * access.keyStride);
      if (!number || (!isTruth && *number != 0 && !(*number <= hidden)))
        return {};
      visible.push_back(isTruth ? *number != 0 : *number == 0);
    }
  return visible;
}

/// The band that visible keys are; nullopt if they are none.
static std::optional<ConstantBand> getBand(ArrayRef<bool> visible,
                                           const Access &access) {
  int64_t left = -1, right = -1;
  auto forEach = [&](function_ref<void(int64_t, bool)> fn) {
    for (auto [i, isVisible] : llvm::enumerate(visible))
      fn(static_cast<int64_t>(i % access.keys - i / access.keys), isVisible);
  };
  forEach([&](int64_t ahead, bool isVisible) {
    left = isVisible ? std::max(left, -ahead) : left;
    right = isVisible ? std::max(right, ahead) : right;
  });
  bool isBand = left >= 0 && right >= 0;
  forEach([&](int64_t ahead, bool isVisible) {
    isBand &= isVisible == (ahead <= right && -ahead <= left);
  });
  if (!isBand)
    return std::nullopt;
  ConstantBand band;
  if (left < access.rows - 1)
    band.left = left;
  if (right < access.keys - 1)
    band.right = right;
  return band;
}

/// Looks at a read of a constant.
static std::optional<ConstantBand> findBand(const Expr *read, const Expr *row,
                                            const Expr *key, double hidden) {
  // Larger masks are not gone through.
  constexpr int64_t kMaxElements = 1 << 24;
  ElementsAttr elements;
  if (!row || !key || read->getKind() != Expr::Kind::Read ||
      !matchPattern(read->getValue(), m_Constant(&elements)) ||
      !elements.getElementType().isIntOrFloat() ||
      elements.getNumElements() > kMaxElements)
    return std::nullopt;
  std::optional<Access> access = getAccess(read, row, key);
  if (!access)
    return std::nullopt;
  SmallVector<bool> visible = getVisibleKeys(read, *access, hidden);
  return visible.empty() ? std::nullopt : getBand(visible, *access);
}

bool KeyBandFinder::addConstant(const Expr *read, double hidden) {
  auto [entry, inserted] = constants->try_emplace(read);
  if (inserted)
    entry->second = findBand(read, row, key, hidden);
  std::optional<ConstantBand> band = entry->second;
  if (!band)
    return false;
  KeyBands before = bands;
  const Expr *zero = context->getInt(0);
  if ((!band->left || addBand(bands.left, zero, *band->left)) &&
      (!band->right || addBand(bands.right, zero, *band->right)))
    return true;
  bands = std::move(before);
  return false;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// What a truth is the negation of; null if it is written as none.
static const Expr *getNegated(const Expr *truth) {
  if (!truth->isa<arith::XOrIOp>())
    return nullptr;
  ArrayRef<const Expr *> operands = truth->getOperands();
  for (int i : {0, 1})
    if (operands[i]->isInt(1) || operands[i]->isInt(-1))
      return operands[1 - i];
  return nullptr;
}

void KeyBandFinder::addTruth(const Expr *truth, bool negated) {
  if (const Expr *opposite = getNegated(truth))
    return addTruth(opposite, !negated);
  // ¬(a ∨ b) = ¬a ∧ ¬b.
  if (negated ? truth->isa<arith::OrIOp>() : truth->isa<arith::AndIOp>()) {
    for (const Expr *operand : truth->getOperands())
      addTruth(operand, negated);
    return;
  }
  if (truth->isInt(negated ? 0 : 1) || addComparison(truth, negated) ||
      (!negated && addConstant(truth, 0)))
    return;
  if (negated)
    truth = context->apply<arith::XOrIOp>(
        IntegerType::get(context->getMLIRContext(), 1),
        {truth, context->getInt(1)});
  bands.keep.push_back(truth);
}
