//===- RopeDialect.td - The rope dialect --------------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEDIALECT_TD
#define ROPE_IR_ROPEDIALECT_TD

include "mlir/IR/DialectBase.td"

def Rope_Dialect : Dialect {
  let name = "rope";
  let cppNamespace = "::mlir::rope";
  let summary = "Rotary position embedding and the attention built on it";
  let description = [{
    Few ops that each mean one thing, over ranked tensors and memrefs, in
    destination-passing style.

    **Rotation.** Channels are paired. At position p (in tokens) pair i turns
    by the angle p·ω_i (radians): (u, v) → (u·cos − v·sin, v·cos + u·sin).
    Cosines and sines stand in a *rotation table* of shape [lead…, 2, W], an
    ordinary tensor: plane 0 holds a·cos, plane 1 a·sin, where a is a
    magnitude that is 1 for most models.

    **Numerics.** An op is its formula in real arithmetic on the stored
    operands, evaluated in f32 (f64 where an operand is f64) and rounded once
    to the type of its result. A rewrite may remove a rounding, never move or
    add one, unless it says so.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // Canonicalization, tiling and decomposition build ops of these.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // ROPE_IR_ROPEDIALECT_TD
