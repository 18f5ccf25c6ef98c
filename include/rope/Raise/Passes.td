//===- Passes.td - Raising passes --------------------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_RAISE_PASSES
#define ROPE_RAISE_PASSES

include "mlir/Pass/PassBase.td"

def RaisePass : Pass<"rope-raise"> {
  let summary = "Find rotations and attentions in plain model IR, by proof";
  let description = [{
    Evaluates elements of tensors symbolically, whatever ops spell them, and
    replaces each value whose every channel is proven to be turned in a pair
    (or to pass through) by `rope.rotate` or `rope.rerotate`, with the table
    that turns it. A table that the model computes becomes a `rope.table` with
    the model's own angle arithmetic; any other is put together from the
    tensors that hold it.

    ```mlir
    %n = linalg.generic (negf) ins(%x[.., 8:16])
    %r = tensor.concat dim(3) %n, %x[.., 0:8]
    %y = linalg.generic (x*cos + r*sin) ins(%x, %cos, %r, %sin)
    // becomes
    %t = rope.table #rope.explicit<..> ins(%ids) f32_angle outs(..)
    %y = rope.rotate <half along [0, 2]> ins(%x, %t) outs(..)
    ```

    Numbers: roundings between the ops of the model are removed, none is moved
    or added.
  }];
  let options = [
    Option<"explain", "explain", "bool", "false",
           "Emit a remark for each candidate: what it became, or the first "
           "thing that could not be proven">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::rope::RopeDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ROPE_RAISE_PASSES
