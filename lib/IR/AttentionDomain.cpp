//===- AttentionDomain.cpp - The domain of attention and its roles --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Labels of operands' dims, their defaults, the #rope.layout attribute, and
// the extents of the domain.
//
//===----------------------------------------------------------------------===//

#include "AttentionRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rope;

//===----------------------------------------------------------------------===//
// Roles and labels
//===----------------------------------------------------------------------===//

static constexpr OperandRole kAllRoles[] = {
    OperandRole::Query,  OperandRole::Key,       OperandRole::Value,
    OperandRole::Output, OperandRole::Mask,      OperandRole::QueryPos,
    OperandRole::KeyPos, OperandRole::KeyLength, OperandRole::Sink,
    OperandRole::Lse,    OperandRole::Sum,       OperandRole::KvState,
    OperandRole::KSum};

ArrayRef<OperandRole> rope::getAllRoles() { return kAllRoles; }

/// What a role may hold: its name, the letters that it may have, those that it
/// must have, and its default letters, outermost first.
struct RoleInfo {
  StringRef name;
  StringRef allowed;
  StringRef required;
  StringRef defaults;
};

static RoleInfo getInfo(OperandRole role) {
  switch (role) {
  case OperandRole::Query:
    return {"query", "bhgmd", "d", "b(hg)md"};
  case OperandRole::Key:
    return {"key", "bhnd", "nd", "bhnd"};
  case OperandRole::Value:
    return {"value", "bhne", "ne", "bhne"};
  case OperandRole::Output:
    return {"output", "bhgme", "e", "b(hg)me"};
  case OperandRole::Mask:
    return {"mask", "bhgmn", "", "b(hg)mn"};
  case OperandRole::QueryPos:
    return {"query_pos", "bm", "", "bm"};
  case OperandRole::KeyPos:
    return {"key_pos", "bn", "", "bn"};
  case OperandRole::KeyLength:
    return {"key_length", "b", "", "b"};
  case OperandRole::Sink:
    return {"sink", "hg", "", "(hg)"};
  case OperandRole::Lse:
    return {"lse", "bhgm", "", "b(hg)m"};
  case OperandRole::Sum:
    return {"sum", "bhgm", "", "b(hg)m"};
  case OperandRole::KvState:
    return {"kv_state", "bhde", "de", "bhde"};
  case OperandRole::KSum:
    return {"k_sum", "bhd", "d", "bhd"};
  }
  llvm_unreachable("unknown role");
}

StringRef rope::stringifyRole(OperandRole role) { return getInfo(role).name; }

static constexpr StringRef kLetters = "bhgmnde";

char rope::getLetter(DomainDim dim) {
  return kLetters[static_cast<unsigned>(dim)];
}

static std::optional<DomainDim> symbolizeDim(char letter) {
  size_t index = kLetters.find(letter);
  if (index == StringRef::npos)
    return std::nullopt;
  return static_cast<DomainDim>(index);
}

FailureOr<DimLabels> rope::parseDimLabels(StringRef letters) {
  DimLabels labels;
  llvm::SmallVector<bool> seen(kNumDomainDims, false);
  auto add = [&](char letter, DimLabel &label) {
    std::optional<DomainDim> dim = symbolizeDim(letter);
    if (!dim || std::exchange(seen[static_cast<unsigned>(*dim)], true))
      return failure();
    label.push_back(*dim);
    return success();
  };
  while (!letters.empty()) {
    DimLabel &label = labels.emplace_back();
    if (letters.consume_front("1"))
      continue;
    // The group is one dim, h outermost.
    StringRef taken =
        letters.consume_front("(hg)") ? "hg" : letters.take_front();
    if (taken.size() == 1)
      letters = letters.drop_front();
    for (char letter : taken)
      if (failed(add(letter, label)))
        return failure();
  }
  return labels;
}

std::string rope::printDimLabels(ArrayRef<DimLabel> labels) {
  std::string text;
  for (const DimLabel &label : labels) {
    if (label.empty())
      text += '1';
    else if (label.size() == 1)
      text += getLetter(label.front());
    else
      text += "(hg)";
  }
  return text;
}

std::optional<unsigned> rope::findDim(ArrayRef<DimLabel> labels,
                                      DomainDim dim) {
  for (auto [i, label] : llvm::enumerate(labels))
    if (label.size() == 1 && label.front() == dim)
      return i;
  return std::nullopt;
}

std::optional<unsigned> rope::findHolder(ArrayRef<DimLabel> labels,
                                         DomainDim dim) {
  for (auto [i, label] : llvm::enumerate(labels))
    if (llvm::is_contained(label, dim))
      return i;
  return std::nullopt;
}

/// The position of the group that holds `dim`, or nullopt.
static std::optional<unsigned> findGroup(ArrayRef<DimLabel> labels,
                                         DomainDim dim) {
  for (auto [i, label] : llvm::enumerate(labels))
    if (label.size() > 1 && llvm::is_contained(label, dim))
      return i;
  return std::nullopt;
}

/// The default letters of a role for a rank. Leading dims are dropped, but a
/// rank one higher splits the group (hg).
static FailureOr<DimLabels> getDefaultLabelsOfRank(OperandRole role,
                                                   int64_t rank) {
  DimLabels labels = *parseDimLabels(getInfo(role).defaults);
  auto group = llvm::find_if(labels, [](auto &l) { return l.size() == 2; });
  if (rank == static_cast<int64_t>(labels.size()) + 1 &&
      group != labels.end()) {
    *group = {DomainDim::H};
    labels.insert(std::next(group), DimLabel{DomainDim::G});
  }
  if (rank > static_cast<int64_t>(labels.size()))
    return failure();
  // A single dim of positions lists them; one for each batch must be said.
  labels.erase(labels.begin(), labels.end() - rank);
  return labels;
}

FailureOr<DimLabels> rope::getDefaultLabels(OperandRole role, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return DimLabels();
  FailureOr<DimLabels> labels = getDefaultLabelsOfRank(role, shaped.getRank());
  if (failed(labels))
    return failure();
  if (role == OperandRole::Mask)
    for (auto [label, extent] : llvm::zip_equal(*labels, shaped.getShape()))
      if (extent == 1)
        label.clear();
  for (char letter : getInfo(role).required)
    if (!findDim(*labels, *symbolizeDim(letter)))
      return failure();
  return labels;
}

RotaryAttr Rotation::getRotary() const { return cast<RotaryAttr>(rotary); }

//===----------------------------------------------------------------------===//
// The layout attribute
//===----------------------------------------------------------------------===//

StringAttr LayoutAttr::getLetters(OperandRole role) const {
  switch (role) {
  case OperandRole::Query:
    return getQuery();
  case OperandRole::Key:
    return getKey();
  case OperandRole::Value:
    return getValue();
  case OperandRole::Output:
    return getOutput();
  case OperandRole::Mask:
    return getMask();
  case OperandRole::QueryPos:
    return getQueryPos();
  case OperandRole::KeyPos:
    return getKeyPos();
  case OperandRole::KeyLength:
    return getKeyLength();
  case OperandRole::Sink:
    return getSink();
  case OperandRole::Lse:
  case OperandRole::Sum:
    return getLse();
  case OperandRole::KvState:
    return getKvState();
  case OperandRole::KSum:
    return getKSum();
  }
  llvm_unreachable("unknown role");
}

/// Checks the letters given for one role.
static LogicalResult verifyLetters(function_ref<InFlightDiagnostic()> emitError,
                                   OperandRole role, StringAttr letters) {
  if (!letters)
    return success();
  RoleInfo info = getInfo(role);
  FailureOr<DimLabels> labels = parseDimLabels(letters.getValue());
  // rope.layout C1
  if (failed(labels))
    return emitError() << "layout of " << info.name << " '"
                       << letters.getValue()
                       << "' is not a sequence of distinct letters of bhgmnde, "
                          "1 and (hg)";
  for (const DimLabel &label : *labels)
    for (DomainDim dim : label)
      if (!info.allowed.contains(getLetter(dim)))
        return emitError() << "layout of " << info.name << " '"
                           << letters.getValue() << "' cannot have "
                           << getLetter(dim);
  // rope.layout C2
  for (char letter : info.required)
    if (!findDim(*labels, *symbolizeDim(letter)))
      return emitError() << "layout of " << info.name << " '"
                         << letters.getValue() << "' lacks " << letter;
  return success();
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr query, StringAttr key,
                                 StringAttr value, StringAttr output,
                                 StringAttr mask, StringAttr queryPos,
                                 StringAttr keyPos, StringAttr keyLength,
                                 StringAttr sink, StringAttr lse,
                                 StringAttr kvState, StringAttr kSum) {
  std::pair<OperandRole, StringAttr> given[] = {
      {OperandRole::Query, query},     {OperandRole::Key, key},
      {OperandRole::Value, value},     {OperandRole::Output, output},
      {OperandRole::Mask, mask},       {OperandRole::QueryPos, queryPos},
      {OperandRole::KeyPos, keyPos},   {OperandRole::KeyLength, keyLength},
      {OperandRole::Sink, sink},       {OperandRole::Lse, lse},
      {OperandRole::KvState, kvState}, {OperandRole::KSum, kSum}};
  for (auto [role, letters] : given)
    if (failed(verifyLetters(emitError, role, letters)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Labels and extents of an op
//===----------------------------------------------------------------------===//

FailureOr<DimLabels> rope::resolveLabels(AttentionLikeOpInterface op,
                                         OperandRole role) {
  Value operand = op.getRoleOperand(role);
  if (!operand)
    return DimLabels();
  LayoutAttr layout = op.getLayoutAttr();
  StringAttr letters = layout ? layout.getLetters(role) : StringAttr();
  if (!letters)
    return getDefaultLabels(role, operand.getType());
  FailureOr<DimLabels> labels = parseDimLabels(letters.getValue());
  auto shaped = dyn_cast<ShapedType>(operand.getType());
  int64_t rank = shaped ? shaped.getRank() : 0;
  if (failed(labels) || rank != static_cast<int64_t>(labels->size()))
    return failure();
  return labels;
}

DimLabels rope::detail::getLabels(AttentionLikeOpInterface op,
                                  OperandRole role) {
  return resolveLabels(op, role).value_or(DimLabels());
}

/// A dim of an operand.
using OperandDim = std::pair<Value, unsigned>;

/// The dims of operands that `find` finds for a dim of the domain.
static SmallVector<OperandDim> findDims(
    AttentionLikeOpInterface op, DomainDim dim,
    function_ref<std::optional<unsigned>(ArrayRef<DimLabel>, DomainDim)> find) {
  SmallVector<OperandDim> found;
  for (OperandRole role : kAllRoles)
    if (Value operand = op.getRoleOperand(role))
      if (std::optional<unsigned> at = find(op.getLabels(role), dim))
        found.emplace_back(operand, *at);
  return found;
}

/// The static extent that one of the dims has, or kDynamic.
static int64_t getStaticExtentOf(ArrayRef<OperandDim> dims) {
  for (auto [operand, at] : dims) {
    auto shaped = cast<ShapedType>(operand.getType());
    if (!shaped.isDynamicDim(at))
      return shaped.getDimSize(at);
  }
  return ShapedType::kDynamic;
}

int64_t rope::getStaticGroupExtent(AttentionLikeOpInterface op) {
  return getStaticExtentOf(findDims(op, DomainDim::G, findGroup));
}

/// The extent of `dim` by operands that hold it alone, kDynamic if none of them
/// has it static; nothing if no operand does.
static std::optional<int64_t> getOwnStaticExtent(AttentionLikeOpInterface op,
                                                 DomainDim dim) {
  SmallVector<OperandDim> dims = findDims(op, dim, findDim);
  if (dims.empty())
    return std::nullopt;
  return getStaticExtentOf(dims);
}

/// The dim with which `dim` shares its extent in a group (hg) if no operand
/// holds it alone: g next to h, and h if there is a g of its own to divide by.
static std::optional<DomainDim> getGroupPartner(AttentionLikeOpInterface op,
                                                DomainDim dim) {
  if (dim == DomainDim::G)
    return DomainDim::H;
  if (dim == DomainDim::H && getOwnStaticExtent(op, DomainDim::G))
    return DomainDim::G;
  return std::nullopt;
}

int64_t rope::detail::getStaticExtent(AttentionLikeOpInterface op,
                                      DomainDim dim) {
  std::optional<int64_t> own = getOwnStaticExtent(op, dim);
  if (own && !ShapedType::isDynamic(*own))
    return *own;
  std::optional<DomainDim> partner = getGroupPartner(op, dim);
  if (!partner || findDims(op, dim, findGroup).empty())
    return own.value_or(1);
  std::optional<int64_t> divisor = getOwnStaticExtent(op, *partner);
  // The other follows from this one, and not this one from the other.
  if (own && !divisor)
    return ShapedType::kDynamic;
  int64_t both = getStaticGroupExtent(op), count = divisor.value_or(1);
  if (ShapedType::isDynamic(both) || ShapedType::isDynamic(count))
    return ShapedType::kDynamic;
  return count == 0 ? 0 : both / count;
}

static Value createDim(OpBuilder &builder, Location loc, Value shaped,
                       unsigned dim) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::DimOp::create(builder, loc, shaped, dim);
  return tensor::DimOp::create(builder, loc, shaped, dim);
}

OpFoldResult rope::detail::getExtent(OpBuilder &builder, Location loc,
                                     AttentionLikeOpInterface op,
                                     DomainDim dim) {
  int64_t extent = op.getStaticExtent(dim);
  if (!ShapedType::isDynamic(extent))
    return builder.getIndexAttr(extent);
  SmallVector<OperandDim> dims = findDims(op, dim, findDim);
  if (!dims.empty())
    return createDim(builder, loc, dims.front().first, dims.front().second);
  auto [operand, at] = findDims(op, dim, findGroup).front();
  Value both = createDim(builder, loc, operand, at);
  Value divisor = getValueOrCreateConstantIndexOp(
      builder, loc, getExtent(builder, loc, op, *getGroupPartner(op, dim)));
  // Without heads both extents are 0, and a division by 0 would trap.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  divisor = arith::MaxUIOp::create(builder, loc, divisor, one);
  return arith::DivUIOp::create(builder, loc, both, divisor).getResult();
}

SmallVector<DomainDim> rope::getLackedRows(AttentionLikeOpInterface op,
                                           OperandRole role) {
  SmallVector<DomainDim> lacked;
  DimLabels labels = op.getLabels(role);
  for (DomainDim dim : {DomainDim::B, DomainDim::H, DomainDim::G, DomainDim::M})
    if (getInfo(role).allowed.contains(getLetter(dim)) &&
        !findHolder(labels, dim))
      lacked.push_back(dim);
  return lacked;
}
