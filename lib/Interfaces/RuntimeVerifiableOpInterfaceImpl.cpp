//===- RuntimeVerifiableOpInterfaceImpl.cpp - Checks at run time ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of rope ops that depend on extents and values which are not
// known before run time. What the verifier has decided is not checked again.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "rope/IR/Rope.h"
#include "rope/Interfaces/ExternalModels.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// A dim of an operand, with the name that messages call the operand.
struct NamedDim {
  Value shaped;
  int64_t dim;
  StringRef name;
};

/// Builds checks of one op.
class Checker {
public:
  using MessageFn = function_ref<std::string(Operation *, StringRef)>;

  Checker(OpBuilder &builder, Location loc, Operation *op, MessageFn message)
      : builder(builder), loc(loc), op(op), message(message) {}

  void require(Value condition, const Twine &text) {
    cf::AssertOp::create(builder, loc, condition, message(op, text.str()));
  }
  /// Two extents are equal; nothing is emitted if that is known.
  void requireEqual(OpFoldResult lhs, OpFoldResult rhs, const Twine &text);
  /// Two dims have the same extent.
  void requireSame(NamedDim lhs, NamedDim rhs);
  /// The table of an operand has the extents of the dims that it follows.
  void requireTable(Value operand, StringRef name, Value table,
                    RotaryAttr rotary);
  /// An index or each element of a shaped value is at least 0 and at most
  /// `bound`.
  void requireWithin(Value slots, Value bound, const Twine &text);

  Value compare(arith::CmpIPredicate predicate, OpFoldResult lhs,
                OpFoldResult rhs);
  Value getValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  }
  OpFoldResult getDim(Value shaped, int64_t dim) {
    if (isa<MemRefType>(shaped.getType()))
      return memref::getMixedSize(builder, loc, shaped, dim);
    return tensor::getMixedSize(builder, loc, shaped, dim);
  }

  OpBuilder &builder;
  Location loc;
  Operation *op;

private:
  MessageFn message;
};
} // namespace

Value Checker::compare(arith::CmpIPredicate predicate, OpFoldResult lhs,
                       OpFoldResult rhs) {
  return arith::CmpIOp::create(builder, loc, predicate, getValue(lhs),
                               getValue(rhs));
}

void Checker::requireEqual(OpFoldResult lhs, OpFoldResult rhs,
                           const Twine &text) {
  if (isEqualConstantIntOrValue(lhs, rhs))
    return;
  require(compare(arith::CmpIPredicate::eq, lhs, rhs), text);
}

void Checker::requireSame(NamedDim lhs, NamedDim rhs) {
  if (lhs.shaped == rhs.shaped && lhs.dim == rhs.dim)
    return;
  int64_t left = cast<ShapedType>(lhs.shaped.getType()).getDimSize(lhs.dim);
  int64_t right = cast<ShapedType>(rhs.shaped.getType()).getDimSize(rhs.dim);
  if (!ShapedType::isDynamic(left) && left == right)
    return;
  requireEqual(getDim(lhs.shaped, lhs.dim), getDim(rhs.shaped, rhs.dim),
               "dim " + Twine(lhs.dim) + " of " + lhs.name +
                   " must have the extent of dim " + Twine(rhs.dim) + " of " +
                   rhs.name);
}

void Checker::requireTable(Value operand, StringRef name, Value table,
                           RotaryAttr rotary) {
  std::string tableName = ("the table of " + name).str();
  for (auto [i, dim] : llvm::enumerate(rotary.getAlong()))
    requireSame({table, static_cast<int64_t>(i), tableName},
                {operand, dim, name});
}

void Checker::requireWithin(Value slots, Value bound, const Twine &text) {
  auto check = [&](Value slot) {
    // Unsigned: a negative number is out of bounds as well.
    require(compare(arith::CmpIPredicate::ule, slot, bound), text);
  };
  auto type = dyn_cast<ShapedType>(slots.getType());
  if (!type)
    return check(slots);
  SmallVector<Value> starts, ends, steps;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    starts.push_back(getValue(builder.getIndexAttr(0)));
    ends.push_back(getValue(getDim(slots, dim)));
    steps.push_back(getValue(builder.getIndexAttr(1)));
  }
  OpBuilder::InsertionGuard guard(builder);
  scf::buildLoopNest(
      builder, loc, starts, ends, steps,
      [&](OpBuilder &nested, Location, ValueRange at) {
        OpBuilder::InsertionGuard nestedGuard(builder);
        builder.restoreInsertionPoint(nested.saveInsertionPoint());
        Value slot =
            isa<MemRefType>(type)
                ? memref::LoadOp::create(builder, loc, slots, at).getResult()
                : tensor::ExtractOp::create(builder, loc, slots, at)
                      .getResult();
        if (!slot.getType().isIndex())
          slot = arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), slot);
        check(slot);
      });
}

//===----------------------------------------------------------------------===//
// Tables and rotations
//===----------------------------------------------------------------------===//

/// The leading dims of `shaped`, from `first` on, are those of `table`.
static void requireLead(Checker &checker, Value shaped, StringRef name,
                        int64_t first, Value table, int64_t trailing) {
  int64_t lead = cast<ShapedType>(table.getType()).getRank() - trailing;
  for (int64_t dim = 0; dim < lead; ++dim)
    checker.requireSame({shaped, first + dim, name}, {table, dim, "the table"});
}

static void check(Checker &checker, TableOp op) {
  if (isa<ShapedType>(op.getPositions().getType()))
    requireLead(checker, op.getPositions(), "the positions",
                op.getAxes() ? 1 : 0, op.getInit(), 2);
}

static void check(Checker &checker, AssembleOp op) {
  requireLead(checker, op.getCos(), "cos", 0, op.getInit(), 2);
  requireLead(checker, op.getSin(), "sin", 0, op.getInit(), 2);
}

static void check(Checker &checker, ComposeOp op) {
  requireLead(checker, op.getLhs(), "lhs", 0, op.getInit(), 2);
  requireLead(checker, op.getRhs(), "rhs", 0, op.getInit(), 2);
}

template <typename OpTy> static void checkRotation(Checker &checker, OpTy op) {
  int64_t rank = cast<ShapedType>(op.getInput().getType()).getRank();
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    checker.requireSame({op.getInput(), dim, "the input"},
                        {op.getInit(), dim, "the init"});
  checker.requireTable(op.getInput(), "the input", op.getTable(),
                       op.getRotary());
}

static void check(Checker &checker, RotateOp op) { checkRotation(checker, op); }

static void check(Checker &checker, RerotateOp op) {
  checkRotation(checker, op);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Dims of operands that are just `label`.
static SmallVector<NamedDim> findDims(AttentionLikeOpInterface op,
                                      const DimLabel &label) {
  SmallVector<NamedDim> dims;
  for (OperandRole role : getAllRoles())
    if (Value operand = op.getRoleOperand(role))
      for (auto [i, held] : llvm::enumerate(op.getLabels(role)))
        if (held == label)
          dims.push_back(
              {operand, static_cast<int64_t>(i), stringifyRole(role)});
  return dims;
}

/// Dims of one letter have one extent, and so have dims of the group (hg).
static void requireOneExtent(Checker &checker, AttentionLikeOpInterface op,
                             const DimLabel &label) {
  SmallVector<NamedDim> dims = findDims(op, label);
  if (dims.empty())
    return;
  // Against a static extent all others are checked, and few are left.
  auto *first = llvm::find_if(dims, [](const NamedDim &dim) {
    return !cast<ShapedType>(dim.shaped.getType()).isDynamicDim(dim.dim);
  });
  NamedDim reference = first == dims.end() ? dims.front() : *first;
  llvm::SmallDenseSet<std::pair<Value, int64_t>> seen;
  for (const NamedDim &dim : dims)
    if (seen.insert({dim.shaped, dim.dim}).second)
      checker.requireSame(dim, reference);
}

/// A group (hg) is a multiple of h, and h · g if both are dims of their own; or
/// a multiple of g if only that is.
static void requireGroups(Checker &checker, AttentionLikeOpInterface op) {
  SmallVector<NamedDim> groups = findDims(op, {DomainDim::H, DomainDim::G});
  SmallVector<NamedDim> outer = findDims(op, {DomainDim::H});
  SmallVector<NamedDim> inner = findDims(op, {DomainDim::G});
  bool hasHeads = !outer.empty();
  if (!hasHeads)
    std::swap(outer, inner);
  if (groups.empty() || outer.empty())
    return;
  auto isDynamic = [](const NamedDim &dim) {
    return cast<ShapedType>(dim.shaped.getType()).isDynamicDim(dim.dim);
  };
  if (!isDynamic(groups.front()) && !isDynamic(outer.front()) &&
      (inner.empty() || !isDynamic(inner.front())))
    return;
  auto getValue = [&](const NamedDim &dim) {
    return checker.getValue(checker.getDim(dim.shaped, dim.dim));
  };
  OpBuilder &builder = checker.builder;
  Location loc = checker.loc;
  Value all = getValue(groups.front());
  Value divisor = getValue(outer.front());
  Value each;
  if (inner.empty()) {
    // No heads have no groups; and nothing may divide by zero.
    Value one = checker.getValue(builder.getIndexAttr(1));
    Value nonzero = arith::MaxUIOp::create(builder, loc, divisor, one);
    each = arith::DivUIOp::create(builder, loc, all, nonzero);
  } else {
    each = getValue(inner.front());
  }
  Value product = arith::MulIOp::create(builder, loc, divisor, each);
  checker.requireEqual(all, product,
                       "the heads of " + groups.front().name +
                           " must be a multiple of the " +
                           (hasHeads ? "key-value heads"
                                     : "query heads for each key-value head"));
}

/// An init without b, h, g or m has a place for each row, so the dim has the
/// extent 1.
static void requireRows(Checker &checker, AttentionLikeOpInterface op) {
  for (OperandRole role : op.getInitRoles()) {
    if (!op.getRoleOperand(role))
      continue;
    for (DomainDim dim : getLackedRows(op, role))
      checker.requireEqual(op.getExtent(checker.builder, checker.loc, dim),
                           checker.builder.getIndexAttr(1),
                           stringifyRole(role) + " lacks " +
                               Twine(getLetter(dim)) +
                               ", which must have extent 1");
  }
}

/// Broadcast dims have the extent 1.
static void requireUnits(Checker &checker, AttentionLikeOpInterface op) {
  for (const NamedDim &dim : findDims(op, {}))
    checker.requireEqual(checker.getDim(dim.shaped, dim.dim),
                         checker.builder.getIndexAttr(1),
                         "dim " + Twine(dim.dim) + " of " + dim.name +
                             " is broadcast and must have extent 1");
}

static void checkAttention(Checker &checker, AttentionLikeOpInterface op) {
  for (DomainDim dim : {DomainDim::B, DomainDim::H, DomainDim::G, DomainDim::M,
                        DomainDim::N, DomainDim::D, DomainDim::E})
    requireOneExtent(checker, op, {dim});
  requireOneExtent(checker, op, {DomainDim::H, DomainDim::G});
  requireGroups(checker, op);
  requireUnits(checker, op);
  requireRows(checker, op);
  for (OperandRole role : {OperandRole::Query, OperandRole::Key,
                           OperandRole::Value, OperandRole::Output})
    if (Rotation rotation = op.getRotation(role))
      checker.requireTable(op.getRoleOperand(role), stringifyRole(role),
                           rotation.table, rotation.getRotary());
  if (Value length = op.getRoleOperand(OperandRole::KeyLength))
    checker.requireWithin(
        length,
        checker.getValue(
            op.getExtent(checker.builder, checker.loc, DomainDim::N)),
        "key_length must be at least 0 and at most the number of keys");
}

static void check(Checker &checker, AttentionOp op) {
  checkAttention(checker, op);
}

static void check(Checker &checker, OnlineAttentionOp op) {
  checkAttention(checker, op);
}

static void check(Checker &checker, LinearAttentionOp op) {
  checkAttention(checker, op);
  AttentionLikeOpInterface self = op;
  if (op.getCausal())
    checker.requireEqual(
        self.getExtent(checker.builder, checker.loc, DomainDim::M),
        self.getExtent(checker.builder, checker.loc, DomainDim::N),
        "causal: there must be as many keys as query rows");
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct Model : RuntimeVerifiableOpInterface::ExternalModel<Model<OpTy>, OpTy> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> message) const {
    Checker checker(builder, loc, op, message);
    check(checker, cast<OpTy>(op));
  }
};
} // namespace

template <typename... OpTy> static void attach(MLIRContext *context) {
  (OpTy::template attachInterface<Model<OpTy>>(*context), ...);
}

void rope::registerRuntimeVerifiableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RopeDialect *) {
    attach<TableOp, AssembleOp, ComposeOp, RotateOp, RerotateOp, AttentionOp,
           OnlineAttentionOp, LinearAttentionOp>(context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
  });
}
