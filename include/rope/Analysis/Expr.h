//===- Expr.h - Scalar expressions, unique by structure ---------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one element of a tensor is, as an expression over elements of other
// tensors. Expressions are made by an ExprContext, which keeps one of each
// structure: two expressions are structurally equal iff their pointers are.
//
// Integers are those of mathematics and are kept in a linear normal form, so
// that slices, reshapes and wraps of concrete channels fold to constants. The
// arithmetic of indices and positions (32 bits and wider) is taken not to wrap;
// what may wrap otherwise, or overflows the numbers here, stays an Apply.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_ANALYSIS_EXPR_H
#define ROPE_ANALYSIS_EXPR_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Allocator.h"

#include <vector>

namespace mlir::arith {
enum class CmpIPredicate : uint64_t;
} // namespace mlir::arith

namespace mlir::rope {

/// One scalar expression. Immutable; owned by its ExprContext.
class Expr {
public:
  enum class Kind {
    Int,    ///< An integer constant.
    Float,  ///< A floating-point constant of `getType()`.
    Sym,    ///< A symbolic index, from 0 to below its extent.
    Scalar, ///< An SSA value that is not looked into.
    Dim,    ///< The extent of a dim of a tensor.
    Read,   ///< The element of a tensor at an index.
    Linear, ///< constant + sum of coefficient · atom, over integers.
    Apply   ///< A scalar op applied to operands.
  };

  Kind getKind() const { return kind; }
  /// The value of an Int, or the constant part of a Linear.
  int64_t getInt() const { return number; }
  /// The value of a Float.
  double getFloat() const { return real; }
  /// The number of a Sym, or the dim of a Dim.
  int64_t getNumber() const { return number; }
  /// The static extent of a Sym, or ShapedType::kDynamic.
  int64_t getExtent() const { return extent; }
  /// The extent of a Sym where it is dynamic and known as an expression.
  const Expr *getDynamicExtent() const { return dynamicExtent; }
  /// The value of a Scalar, Dim or Read.
  Value getValue() const { return value; }
  /// The op of an Apply.
  OperationName getName() const { return *name; }
  /// What tells ops of one name apart: the predicate of a comparison, or a
  /// dictionary of attributes.
  Attribute getAttr() const { return attr; }
  /// The type of a Float, a Scalar or an Apply, the element type of a Read;
  /// null for integers in normal form.
  Type getType() const { return type; }
  /// The index of a Read, the operands of an Apply, the atoms of a Linear.
  ArrayRef<const Expr *> getOperands() const { return operands; }
  /// The coefficients of a Linear's atoms.
  ArrayRef<int64_t> getCoefficients() const { return coefficients; }
  /// Position in the order of creation; sorts operands deterministically.
  unsigned getId() const { return id; }

  bool isInt() const { return kind == Kind::Int; }
  bool isInt(int64_t v) const { return isInt() && number == v; }
  bool isFloat(double v) const { return kind == Kind::Float && real == v; }
  /// Whether this is an Apply of the op.
  template <typename OpTy> bool isa() const {
    return kind == Kind::Apply &&
           name->getStringRef() == OpTy::getOperationName();
  }

  void print(raw_ostream &os) const;

private:
  friend class ExprContext;
  unsigned computeHash() const;
  Value getFirstValue() const;
  bool isStructureOf(const Expr &other) const;

  Kind kind;
  unsigned id = 0;
  int64_t number = 0;
  int64_t extent = 0;
  const Expr *dynamicExtent = nullptr;
  double real = 0;
  Value value;
  std::optional<OperationName> name;
  Attribute attr;
  Type type;
  ArrayRef<const Expr *> operands;
  ArrayRef<int64_t> coefficients;
};

raw_ostream &operator<<(raw_ostream &os, const Expr &expr);

/// The symbols that expressions depend on, ascending by number.
SmallVector<const Expr *> collectSymbols(ArrayRef<const Expr *> exprs);

/// A closed range of integers; a missing side is unbounded.
struct IntRange {
  std::optional<int64_t> low, high;

  bool isNotNegative() const { return low && *low >= 0; }
};

/// Two integers.
using IntPair = std::pair<const Expr *, const Expr *>;

/// Expressions by expressions of one context. What was made together lies
/// together.
class ExprMap {
public:
  /// Null if there is none.
  const Expr *lookup(const Expr *from) const {
    return from->getId() < to.size() ? to[from->getId()] : nullptr;
  }
  void set(const Expr *from, const Expr *expr) {
    if (from->getId() >= to.size())
      to.resize(from->getId() + 1);
    to[from->getId()] = expr;
  }
  void clear() { to.clear(); }

private:
  std::vector<const Expr *> to;
};

/// Makes expressions, in normal form.
class ExprContext {
public:
  explicit ExprContext(MLIRContext *context) : context(context) {}
  MLIRContext *getMLIRContext() const { return context; }

  const Expr *getInt(int64_t v);
  const Expr *getFloat(double v, Type type);
  /// A symbol of a static extent, or of a dynamic one that an expression gives
  /// (null if none does).
  const Expr *getSym(int64_t number, int64_t extent,
                     const Expr *dynamicExtent = nullptr);
  const Expr *getScalar(Value value);
  const Expr *getDim(Value tensor, int64_t dim);
  const Expr *getRead(Value tensor, ArrayRef<const Expr *> index);

  /// Integer arithmetic.
  const Expr *add(const Expr *lhs, const Expr *rhs);
  const Expr *sub(const Expr *lhs, const Expr *rhs);
  const Expr *mul(const Expr *lhs, const Expr *rhs);
  /// Quotient rounded down, and the remainder that goes with it.
  const Expr *floorDiv(const Expr *lhs, const Expr *rhs);
  const Expr *mod(const Expr *lhs, const Expr *rhs);

  /// A scalar op on operands, simplified where an identity of exact arithmetic
  /// holds: neutral elements, signs out of products, selects on constants,
  /// parts of complex numbers.
  const Expr *apply(OperationName name, Attribute attr, Type type,
                    ArrayRef<const Expr *> operands);
  template <typename OpTy>
  const Expr *apply(Type type, ArrayRef<const Expr *> operands,
                    Attribute attr = {}) {
    return apply(OperationName(OpTy::getOperationName(), context), attr, type,
                 operands);
  }

  /// What is known of an integer's range.
  IntRange getRange(const Expr *expr);

  /// Takes two integers for equal from here on: expressions that are made after
  /// it have one of their parts written in terms of the others. Those made
  /// before keep their form; `rebuild` makes them anew. Does nothing where no
  /// part stands alone in the difference.
  void equate(const Expr *lhs, const Expr *rhs);
  /// Takes an integer to be at least `low` from here on.
  void bound(const Expr *expr, int64_t low);
  /// Makes an expression anew, by what was equated since. It may be one of
  /// another context.
  const Expr *rebuild(const Expr *expr);

  /// Broadcasts that were met, select(extent = 1, 0, i) for i below another
  /// extent: i, if both extents are equal; they are in the order met.
  ArrayRef<IntPair> getOpenBroadcasts() const {
    return openBroadcasts.getArrayRef();
  }
  void clearOpenBroadcasts() { openBroadcasts.clear(); }

  /// The number of expressions made, for budgets.
  size_t size() const { return exprs; }

private:
  /// An expression by its structure. The hash is kept, so that others need not
  /// be looked at.
  struct Structure {
    const Expr *expr;
    unsigned hash;
  };
  struct StructureInfo {
    static Structure getEmptyKey() {
      return {llvm::DenseMapInfo<const Expr *>::getEmptyKey(), 0};
    }
    static Structure getTombstoneKey() {
      return {llvm::DenseMapInfo<const Expr *>::getTombstoneKey(), 0};
    }
    static unsigned getHashValue(const Structure &s) { return s.hash; }
    static bool isEqual(const Structure &a, const Structure &b);
  };

  const Expr *unique(Expr &&expr);
  const Expr *remake(const Expr *expr, ArrayRef<const Expr *> operands);
  const Expr *applyInteger(StringRef name, const Expr *lhs, const Expr *rhs);
  struct LinearSum;
  const Expr *makeLinear(const LinearSum &sum);
  std::pair<const Expr *, const Expr *> splitDivision(const Expr *lhs,
                                                      int64_t divisor);
  const Expr *simplifyInteger(OperationName name, Attribute attr, Type type,
                              ArrayRef<const Expr *> operands);
  const Expr *simplifyArithmetic(OperationName name, Type type, const Expr *lhs,
                                 const Expr *rhs);
  const Expr *simplifyDivision(OperationName name, const Expr *lhs,
                               const Expr *rhs);
  const Expr *simplifyComparison(arith::CmpIPredicate predicate,
                                 const Expr *lhs, const Expr *rhs);
  const Expr *simplifySelect(ArrayRef<const Expr *> operands);
  const Expr *simplifyFloat(OperationName name, Type type,
                            ArrayRef<const Expr *> operands);
  const Expr *simplifyComplex(OperationName name, Type type,
                              ArrayRef<const Expr *> operands);

  MLIRContext *context;
  llvm::BumpPtrAllocator allocator;
  /// By the first value in expressions, so that those of one op are close to
  /// each other.
  llvm::DenseMap<Value, llvm::DenseSet<Structure, StructureInfo>> sets;
  unsigned exprs = 0;
  llvm::DenseMap<const Expr *, const Expr *> substitutes;
  llvm::DenseMap<const Expr *, int64_t> lowerBounds;
  /// What was asked before.
  llvm::DenseMap<const Expr *, IntRange> ranges;
  llvm::SetVector<IntPair> openBroadcasts;
};

} // namespace mlir::rope

#endif // ROPE_ANALYSIS_EXPR_H
