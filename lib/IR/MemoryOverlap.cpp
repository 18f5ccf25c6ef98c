//===- MemoryOverlap.cpp - Memrefs that may share memory ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's alias analysis, with what this dialect takes for granted.
//
//===----------------------------------------------------------------------===//

#include "rope/IR/MemoryOverlap.h"

#include "mlir/Analysis/AliasAnalysis/LocalAliasAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Whether nothing but views of a memref shares its memory: an argument of a
/// function, an allocation or a global.
static bool isOrigin(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return argument.getOwner()->isEntryBlock() &&
           isa_and_present<FunctionOpInterface>(
               argument.getOwner()->getParentOp());
  return isa<memref::GetGlobalOp>(memref.getDefiningOp()) ||
         hasEffect<MemoryEffects::Allocate>(memref.getDefiningOp(), memref);
}

namespace {
class OverlapAnalysis : public LocalAliasAnalysis {
protected:
  /// Both values are what lies behind the memrefs asked for.
  AliasResult aliasImpl(Value lhs, Value rhs) override {
    if (auto select = lhs.getDefiningOp<SelectLikeOpInterface>())
      return aliasSelected(select, rhs);
    if (auto select = rhs.getDefiningOp<SelectLikeOpInterface>())
      return aliasSelected(select, lhs);
    auto global = lhs.getDefiningOp<memref::GetGlobalOp>();
    auto other = rhs.getDefiningOp<memref::GetGlobalOp>();
    bool isSame =
        lhs == rhs || (global && other && global.getName() == other.getName());
    if (isSame)
      return AliasResult::MustAlias;
    return isOrigin(lhs) && isOrigin(rhs) ? AliasResult::NoAlias
                                          : AliasResult::MayAlias;
  }

private:
  AliasResult aliasSelected(SelectLikeOpInterface select, Value other) {
    // A loop may bring a value back to where it is selected.
    if (!seen.insert({select, other}).second)
      return AliasResult::NoAlias;
    return alias(select.getTrueValue(), other)
        .merge(alias(select.getFalseValue(), other));
  }

  DenseSet<std::pair<Operation *, Value>> seen;
};
} // namespace

bool rope::mayOverlap(Value lhs, Value rhs) {
  return !OverlapAnalysis().alias(lhs, rhs).isNo();
}
