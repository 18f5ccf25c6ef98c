//===- RopeOpInterfaces.td - What attention ops share -------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEOPINTERFACES_TD
#define ROPE_IR_ROPEOPINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Rope_AttentionLikeOpInterface : OpInterface<"AttentionLikeOpInterface"> {
  let cppNamespace = "::mlir::rope";
  let description = [{
    An op over the domain (b, h, g, m, n, d, e) of attention, whose operands
    have roles. Verifiers, tiling and lowerings of all such ops read the
    operands, their dims and their rotations through it.
  }];
  let methods = [
    InterfaceMethod<"The operand of a role; null if the op has none.",
      "::mlir::Value", "getRoleOperand", (ins "::mlir::rope::OperandRole":$role)>,
    InterfaceMethod<"The roles of the inits, in their order.",
      "::llvm::SmallVector<::mlir::rope::OperandRole>", "getInitRoles", (ins)>,
    InterfaceMethod<[{
        The table and rotary of a role (query, key, value or output); the table
        is null if the role is not rotated. The output turns the opposite way.
      }],
      "::mlir::rope::Rotation", "getRotation",
      (ins "::mlir::rope::OperandRole":$role)>,
    InterfaceMethod<"The layout given, or null.",
      "::mlir::rope::LayoutAttr", "getLayoutAttr", (ins)>,
  ];
  let extraSharedClassDeclaration = [{
    /// What each dim of a role's operand is: as the layout says, or the
    /// default for its rank. Empty if the op has no such operand.
    ::mlir::rope::DimLabels getLabels(::mlir::rope::OperandRole role) {
      return ::mlir::rope::detail::getLabels($_op, role);
    }
    /// The static extent of a dim of the domain, or kDynamic. A dim that no
    /// operand has is 1.
    int64_t getStaticExtent(::mlir::rope::DomainDim dim) {
      return ::mlir::rope::detail::getStaticExtent($_op, dim);
    }
    /// The extent of a dim of the domain, as IR where it is dynamic.
    ::mlir::OpFoldResult getExtent(::mlir::OpBuilder &builder,
                                   ::mlir::Location loc,
                                   ::mlir::rope::DomainDim dim) {
      return ::mlir::rope::detail::getExtent(builder, loc, $_op, dim);
    }
  }];
}

#endif // ROPE_IR_ROPEOPINTERFACES_TD
