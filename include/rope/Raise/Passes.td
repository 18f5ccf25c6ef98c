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
  let summary = "Find rotations, attentions and updates in plain model IR, by proof";
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

    A contraction with a softmax of scores becomes `rope.attention`, whatever
    spells its scale, masks, softcap, sink and repeated heads.

    A choice that takes a tensor as it is but where a dim has one index, as
    `where(arange(n) == position, new, cache)`, is made at that index alone, and
    inserted: bufferization can then update a cache in place, which costs as
    much as what is new, and not as all of it (where the argument is writable and
    not returned). Positions of 32 bits and wider are taken not to wrap. Choices
    that are no updates are not reported.

    ```mlir
    %m = linalg.generic (linalg.index == position)
    %y = linalg.generic (select m, new, old) ins(%m, %new, %old)
    // becomes
    %row = linalg.generic (select m, new, old) on slices at the position
    %y = tensor.insert_slice %row into %old[.., position, ..]
    ```

    Where a match needs extents to be equal that the model does not check, and
    would repeat a single element otherwise, they are taken to be equal, and a
    `cf.assert` in front of the op checks it.

    Functions of one block whose calls stand between the parts of a match are
    taken into their callers; those that nothing calls any more, and that are
    private, go. A module with nothing to raise comes out unchanged.

    Tables that the model holds as constants become `rope.table` where every
    row of them is within a unit in the last place of cosines and sines of
    position times frequency. Frequencies become a schedule where it has the
    model's angles bit for bit; otherwise they are listed, and the attribute
    `rope.schedule` of the table notes the schedule that they come from.

    Numbers: roundings between the ops of the model are removed, none is moved
    or added. `exact-angles` changes angles on request.
  }];
  let options = [
    Option<"explain", "explain", "bool", "false",
           "Emit a remark for each candidate (what it became, or the first "
           "thing that could not be proven), and a summary">,
    Option<"exactAngles", "exact-angles", "bool", "false",
           "Compute the angles of tables in real arithmetic, from the "
           "frequencies of the schedule where it is known; the remark says by "
           "how much they differ from the model's">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::rope::RopeDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ExplainPass : Pass<"rope-explain"> {
  let summary = "Say what rope-raise would find, and change nothing";
  let description = [{
    Raises a copy, with the remarks and the summary that
    `rope-raise{explain=true}` gives.

    ```mlir
    // remark: rotation of 8 pairs by a computed table
    // remark: no attention: the denominator does not sum the numerator
    // remark: raised 1 rotation, 0 inverse rotations, 0 attentions, ...
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::rope::RopeDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // ROPE_RAISE_PASSES
