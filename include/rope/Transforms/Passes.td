//===- Passes.td - Transformation passes -------------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TRANSFORMS_PASSES
#define ROPE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"
include "rope/Transforms/TilingPasses.td"

def DecomposePass : Pass<"rope-decompose"> {
  let summary = "Replace rope ops by upstream dialects that mean the same";
  let description = [{
    The portable path, which every compiler that knows linalg can take. Each op
    is replaced by `linalg.generic` and slices, again and again until no op of
    the rope dialect is left:

    ```mlir
    %y = rope.rotate <half along [0]> ins(%x, %t : tensor<?x8xf32>, tensor<?x2x4xf32>)
           outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
    // becomes
    %u = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1]  // first channels of pairs
    %v = tensor.extract_slice %x[0, 4] [%n, 4] [1, 1]  // second channels
    %c = tensor.extract_slice %t[0, 0, 0] [%n, 1, 4] [1, 1, 1]
    %s = tensor.extract_slice %t[0, 1, 0] [%n, 1, 4] [1, 1, 1]
    %r:2 = linalg.generic ... ins(%u, %v, %c, %s) outs(...)
    %1 = tensor.insert_slice %r#0 into %init[0, 0] [%n, 4] [1, 1]
    %y = tensor.insert_slice %r#1 into %1[0, 4] [%n, 4] [1, 1]
    ```

    An op on memrefs becomes `linalg.generic` on views of them. One that has no
    such form computes on `bufferization.to_tensor` of its operands, and stores
    results by `bufferization.materialize_in_destination`. Operands of one op
    may overlap where one allocation, global or argument of the function may be
    behind them; the arguments of a function are taken to be apart.

    An op that cannot be decomposed is an error.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "Names of ops to decompose, like rope.rotate (default: all)">,
    Option<"keepPlanned", "keep-planned", "bool", /*default=*/"false",
           "Leave ops that have a rope.plan">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::rope::RopeDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ConvertToOnlinePass : Pass<"rope-convert-to-online"> {
  let summary = "Carry the state of attention from key to key";
  let description = [{
    Replaces `rope.attention` on tensors by `rope.online_attention`, which may be
    tiled along its keys, from the state before any key, and by what comes after
    the last key: the division by the sum, the sink, the log-sum-exp, and the
    turn back of the output.

    ```mlir
    %o = rope.attention ins(%q, %k, %v : ...) outs(%init : tensor<8x64xbf16>) scale 0.125 -> tensor<8x64xbf16>
    // becomes
    %s:3 = rope.online_attention ins(%q, %k, %v : ...)
             outs(%zeros, %infinities, %zeros1 : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>)
             scale 0.125 -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
    %o = linalg.generic ... ins(%s#0, %s#1, %s#2) outs(%init)  // acc / sum
    ```

    Attention stays where lse or sinks group the heads in another way than the
    output. Numbers change by the order of sums.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def TilePass : Pass<"rope-tile"> {
  let summary = "Tile rope ops by sizes that are given";
  let description = [{
    Puts each op of the rope dialect into loops over its tiles, by its
    TilingInterface:

    ```mlir
    // rope-tile{sizes=b:1,m:64}
    scf.for %b = %c0 to %B step %c1 ... {
      scf.for %m = %c0 to %M step %c64 ... {
        %q1 = tensor.extract_slice %q[%b, 0, %m, 0] [1, 32, %s, 128] [1, 1, 1, 1]
        %o1 = rope.attention ins(%q1, %k1, %v1 : ...) query_pos(%m : index) ...
    ```

    A dim (hg) of both kinds of heads may be cut along h, or along g if the tile
    has one h. Keys are a loop of `rope.online_attention` (see
    rope-convert-to-online), rows of causal linear attention one if its states
    are carried. A tile that an op does not have is an error. An op with an
    operand of static extent 0 stays as it is.

    Rotations of rows that more than two tiles read (keys, for many tiles of
    queries) are done once, in front of the loops; `fuse` leaves rotations and
    tables there that many tiles would compute again.

    Numbers change by the order of sums over keys, if these are cut.
  }];
  let options = [
    ListOption<"sizes", "sizes", "std::string",
               "Tile sizes of attention: b:1,h:1,g:4,m:64,n:128">,
    ListOption<"dims", "dims", "int64_t",
               "Tile sizes of tables and rotations, along their leading dims">,
    Option<"parallel", "parallel", "bool", /*default=*/"false",
           "Make scf.forall, and leave reductions whole">,
    Option<"fuse", "fuse", "bool", /*default=*/"false",
           "Pull producers into the loops">,
    Option<"keySplits", "key-splits", "int64_t", /*default=*/"0",
           "Split the keys of rope.online_attention over as many iterations of "
           "scf.forall, and merge the parts">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def ProtectArgumentsPass : Pass<"rope-protect-arguments", "ModuleOp"> {
  let summary = "Forbid bufferization to write into a caller's tensors";
  let description = [{
    Marks every tensor argument of a public function that has a body
    `bufferization.writable = false`, unless the argument says otherwise. A
    tensor is a value: without the mark one-shot bufferization may use the
    caller's array as scratch memory. An argument that is meant to be updated
    in place (a key cache) is declared `bufferization.writable = true` by its
    author.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    // becomes
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32>
    ```

    Numbers do not change.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def ExpandElementTransfersPass : Pass<"rope-expand-element-transfers"> {
  let summary = "Turn transfers of vectors without dims into loads and stores";
  let description = [{
    A `vector.transfer_read` or `vector.transfer_write` of a vector without dims
    moves one element. Upstream has no lowering for it where the last dim of the
    buffer is strided.

    ```mlir
    %v = vector.transfer_read %m[%i], %pad : memref<?xf32, strided<[?]>>, vector<f32>
    // becomes
    %x = memref.load %m[%i] : memref<?xf32, strided<[?]>>
    %v = vector.broadcast %x : f32 to vector<f32>
    ```

    Numbers do not change.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandCopiesPass : Pass<"rope-expand-copies"> {
  let summary = "Turn copies between strided buffers into linalg";
  let description = [{
    Rewrites a `memref.copy` whose source or destination is not contiguous into
    a `linalg.generic`, which becomes loops. Left alone it would be lowered to a
    call of `memrefCopy`, which only MLIR's runner library has. A contiguous
    copy stays: it becomes `memcpy`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ConvertAssertPass : Pass<"rope-convert-assert", "ModuleOp"> {
  let summary = "Turn cf.assert into a message on the standard error and an abort";
  let description = [{
    Upstream's lowering prints the message by `puts`, whose buffer `abort` drops
    unless it is a terminal. This one calls `write` of the C library. Runs on
    functions of the LLVM dialect, after `convert-func-to-llvm`.

    ```mlir
    cf.assert %ok, "text"
    // becomes
      llvm.cond_br %ok, ^rest, ^stop
    ^stop:
      llvm.call @write(%standard_error, %text, %size) : (i32, !llvm.ptr, i64) -> i64
      llvm.call @abort() : () -> ()
      llvm.unreachable
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ReturnInArgumentsPass : Pass<"rope-return-in-arguments", "ModuleOp"> {
  let summary = "Let private functions return tensors in memory of the caller";
  let description = [{
    After bufferization, a private function returns buffers in one of two ways,
    and calls of it cost an allocation or a copy each time. Where a result is an
    argument that was written in place, callers use what they passed; where the
    function allocates all of it, with a size that is known, callers allocate:

    ```mlir
    func.func private @f(%x: memref<8xf32>) -> memref<8xf32> {
      %y = memref.alloc() : memref<8xf32>
      ...
      return %y : memref<8xf32>
    // becomes
    func.func private @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      ...
      return
    ```

    Numbers do not change.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def SeparateResultsPass : Pass<"rope-separate-results", "ModuleOp"> {
  let summary = "Give each result of a function a buffer of its own";
  let description = [{
    A caller frees every buffer that a public function returns, so no two
    results may share one. On buffers, before they are freed, a result that may
    share its allocation with an earlier one is copied.

    One-shot bufferization takes the results of a call for different buffers and
    writes to one in place. So on tensors, before it, a result of any function
    is copied that is an earlier one or a part of the same tensor.

    ```mlir
    return %a, %a : memref<4xf32>, memref<4xf32>
    // becomes
    %b = memref.alloc() : memref<4xf32>
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    return %a, %b : memref<4xf32>, memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PlanMemoryPass : Pass<"rope-plan-memory", "ModuleOp"> {
  let summary = "Let the buffers of a function share one";
  let description = [{
    Runs on buffers whose deallocations are in place. Those of known size that a
    function allocates and frees in its first block become views of one buffer:
    two share memory if the one is last used before the other is first used.

    ```mlir
    %a = memref.alloc() : memref<1024xf32>  // used up to here ...
    %b = memref.alloc() : memref<1024xf32>  // ... and this one from here
    // becomes
    %m = memref.alloc() {alignment = 64} : memref<4096xi8>
    %a = memref.view %m[%c0][] : memref<4096xi8> to memref<1024xf32>
    %b = memref.view %m[%c0][] : memref<4096xi8> to memref<1024xf32>
    ```

    A large block that goes back to the system costs the next call a page fault
    for each page of it. With `keep`, the function keeps the block for its next
    call, in a global that it empties while it runs, so that calls that overlap
    allocate their own. It is freed when the program or the library ends.
  }];
  let options = [
    Option<"keep", "keep", "bool", /*default=*/"false",
           "Keep the buffer of a function for its next call">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def SimplifyPass : Pass<"rope-simplify"> {
  let summary = "Apply the algebra of rotations where it moves roundings";
  let description = [{
    Rules that hold in real arithmetic, but move or add a rounding. What only
    removes roundings is in `canonicalize`, which this pass runs as well on the
    ops of the dialect.

    - `merge-rotations`: rotate(rotate(x, t1), t2) = rotate(x, t1·t2), and with
      quotients for rerotations by a unit table; then R(p)·R(q) = R(p + q) for
      exact tables of the same frequencies at integer positions, and
      R_f(p)·R_g(p) = R_{f+g}(p) for those at the same positions.
    - `drop-offsets`: ⟨R(s + m)q, R(s + n)k⟩ = ⟨R(m)q, R(n)k⟩ for exact tables that
      serve attention alone, and the same for values with their output.
    - `fold-scale`: a constant factor of query or key becomes one of `scale`.

    Tables whose angles are rounded to f32 by definition (`f32_angle`,
    `f32_quotient`) and `full` tables are left alone.

    ```mlir
    %t = rope.table #rope.default<1.0e4> ins(%p : tensor<8xi64>) ...
    %d = rope.table #rope.default<1.0e4> ins(%q : tensor<8xi64>) ...
    %y = rope.rotate <half along [0]> ins(%x, %t : ...) ...
    %z = rope.rotate <half along [0]> ins(%y, %d : ...) ...
    // becomes
    %pq = arith.addi %p, %q : tensor<8xi64>
    %td = rope.table #rope.default<1.0e4> ins(%pq : tensor<8xi64>) ...
    %z = rope.rotate <half along [0]> ins(%x, %td : ...) ...
    ```

    Numbers change: by the roundings of a table's entries (for f32 tables up to
    3e-7 of the length of a pair where two rotations merge or an offset goes),
    and of the scaled operand (half an ulp of its type).
  }];
  let options = [
    Option<"mergeRotations", "merge-rotations", "bool", "true",
           "Merge rotations one after the other, and their tables">,
    Option<"dropOffsets", "drop-offsets", "bool", "true",
           "Drop offsets common to the positions of two rotations">,
    Option<"foldScale", "fold-scale", "bool", "true",
           "Fold constant factors of queries and keys into the scale">];
  let dependentDialects = ["::mlir::rope::RopeDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FusePass : Pass<"rope-fuse"> {
  let summary = "Move what surrounds attention into it";
  let description = [{
    For ops as rope-raise leaves them, or as a person writes them:

    - rotations of query, key and value become roles of the attention that they
      serve, and the opposite rotation of its output does (RoPER);
    - transposes, reshapes and repeats of what attention reads and writes become
      its layout, repeated key-value heads its groups;
    - exact casts of operands, casts of the output, and exact constant factors
      of query and key go;
    - masks that compare positions become `causal`, `window`, `query_pos` and
      `key_length`, and masks of 0 and −∞ become truths;
    - tables that are equal become one, also if they are computed from other
      tensors of the same numbers, or held in constants of the same bytes;
    - what has become dead goes, including loops that only assert what holds.

    ```mlir
    %qr = rope.rotate <half along [1]> ins(%q, %t : ...) outs(...)
    %qt = linalg.transpose ins(%qr : tensor<2x32x4x16xf32>) outs(...) permutation = [0, 2, 1, 3]
    %kr = rope.rotate <half along [1]> ins(%k, %t : ...) outs(...)
    %o = rope.attention ins(%qt, %kr, %v : ...) outs(...) scale 0.25 layout <key = "bnhd", value = "bnhe">
    // becomes
    %o = rope.attention ins(%q, %k, %v : ...)
           rotate_query(%t : ...) <half along [1]> rotate_key(%t : ...) <half along [1]>
           outs(...) scale 0.25 layout <query = "bm(hg)d", key = "bnhd", value = "bnhe">
    ```

    A rotation stays where fusing it would turn rows twice, or again in each
    iteration of a loop: when it has another user (a key cache), when it is
    outside of the loop, or when the rows are joined to others before attention
    reads them (a cache of turned keys). A remark says so.

    Numbers: roundings between the ops are removed; a remark tells of those to a
    type narrower than f32. With `numerics=relaxed` factors are folded into
    `scale` if the product is rounded to f64, and casts to f64 go.
  }];
  let options = [
    Option<"numerics", "numerics", "::mlir::rope::Numerics",
           "::mlir::rope::Numerics::Strict", "What may happen to roundings", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::rope::Numerics::Strict, "strict",
                          "They are removed (default)"),
               clEnumValN(::mlir::rope::Numerics::Relaxed, "relaxed",
                          "They are moved and added as well"))
           }]>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::rope::RopeDialect", "::mlir::tensor::TensorDialect"];
}

def ExactAnglesPass : Pass<"rope-exact-angles"> {
  let summary = "Compute tables from exact angles";
  let description = [{
    Makes the angles of tables exact that are rounded to f32 by definition
    (`f32_angle`, `f32_quotient`), as rope-raise leaves those that a model
    computes in f32.

    ```mlir
    %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi64>) f32_angle outs(...)
    // becomes
    %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?xi64>) outs(...)
    ```

    Numbers change, and a remark says for each table by how much: the largest
    difference of an angle where positions are constant, else how it grows with
    the position. A model that was trained with rounded angles may depend on
    them.
  }];
}

def ExpandMathPass : Pass<"rope-expand-math"> {
  let summary = "Write exp as arithmetic that vectors can run";
  let description = [{
    Rewrites `math.exp` on f32, scalars and vectors alike, so that a vector and
    the loop over what is left of it give the same numbers. The result is within
    1.1 units in the last place of the exact one, for every argument: results
    below the normal range, infinities and NaN included.

    Sines and cosines are left alone: reducing their arguments takes care that
    libm has and a polynomial has not.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandNarrowingPass : Pass<"rope-expand-narrowing"> {
  let summary = "Narrow f64 to f16 and bf16 by way of f32";
  let description = [{
    Processors narrow f64 to f32 and f32 to 16 bits; for both at once LLVM calls
    functions of a compiler runtime that not every program has. Rewrites
    `arith.truncf` of f64 to f16 or bf16, scalars and vectors, through an f32
    that is rounded to odd, so that the result is rounded as if once, and
    `math.fma` on f16 and bf16 as arithmetic in f64. Numbers do not change.

    ```mlir
    %y = arith.truncf %x : f64 to f16
    // becomes
    %n = arith.truncf %x : f64 to f32
    ...                                // %odd: %n, or its odd neighbour
    %y = arith.truncf %odd : f32 to f16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def ExpandStructuredPass : Pass<"rope-expand-structured"> {
  let summary = "Expand structured ops that have no loop form";
  let description = [{
    Upstream gives most of linalg a lowering to loops, but not `linalg.softmax`,
    `linalg.pack`, `linalg.unpack` and the Winograd ops. On tensors, this pass
    writes them as ops that have one. Numbers do not change.
  }];
  let options = [
    Option<"keepWeights", "keep-weights", "bool", /*default=*/"false",
           "Leave linalg.unpack of arguments that are a rope.weight, which "
           "rope-tile-linalg reads as they are">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DropCastFlagsPass : Pass<"rope-drop-cast-flags"> {
  let summary = "Drop fast-math flags of float casts";
  let description = [{
    In MLIR 22.1 `arith.extf` and `arith.truncf` take fast-math flags, which
    math-extend-to-supported-types sets, but the LLVM dialect's casts take none
    and the conversion keeps the attribute, which cannot be translated. The
    flags allow, but never require.
  }];
}

def CheckLoweredPass : Pass<"rope-check-lowered"> {
  let summary = "Report ops that were not lowered to the LLVM dialect";
  let description = [{
    The conversions to the LLVM dialect leave what they do not know as it is.
    This pass, run after them, makes that an error at the op. It drops
    `rope.weight` from arguments.
  }];
}

#endif // ROPE_TRANSFORMS_PASSES
