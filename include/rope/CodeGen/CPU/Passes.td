//===- Passes.td - Code generation for CPUs -----------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_CODEGEN_CPU_PASSES
#define ROPE_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def PlanPass : Pass<"rope-plan"> {
  let summary = "Choose how attention and rotations become vector code";
  let description = [{
    Gives each `rope.attention` that rope-attention-to-vector can take, each
    `rope.linear_attention` that rope-linear-attention-to-vector can take, and
    each `rope.rotate` and `rope.rerotate` that rope-rotation-to-vector can take,
    a plan: the attribute `rope.plan`, chosen from the op's extents and types and
    from the description of the target. A rotation's plan says no more than that
    it is not to be decomposed. What an op's plan already says is kept, so
    that a user can override single numbers. An op with a plan is left alone by
    `rope-decompose{keep-planned}`.

    ```mlir
    %o = rope.attention ins(%q, %k, %v : ...) outs(%init : ...) scale 0.125 causal -> ...
    // becomes
    %o = rope.attention ins(%q, %k, %v : ...) outs(%init : ...) scale 0.125 causal
           {rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4,
                                       group = 1, strips = 24, weave = 8>} -> ...
    ```

    Where the number of query rows is not known, an attention without a plan
    becomes two, in the branches of an `scf.if`: one for few rows (decoding),
    which reads keys where they lie, and one that packs them.

    With `dots` and `relaxed-bf16`, and where its plan says so, attention of bf16
    multiplies pairs of bf16. Rotated, scaled queries, rotated keys and values,
    and the weights are then rounded to bf16, as frameworks do, and numbers below
    2^-126 count as 0, be they factors or sums. The bound of the op does not hold.
    With all operands rotated, let S be the largest sum of |scale·q_c·k_c| over
    the D channels c; K, Q and V the largest |k_c|, |scale·q_c| and |v|; N the
    number of keys; and δ = 2^-8·S + D·2^-126·(K + Q + 1). Then an element of the
    output is within (3·2^-8 + 4·δ)·V + N·2^-56 of the formula, √2 times that if
    the output is turned back, and an lse is within 1.01·δ + 2^-8.

    An op without plan takes the general path, through linalg; a remark
    (category rope-plan) says why. A plan that was given to such an op is an
    error, and so is one with `lookup` or `dots` for a target without, one with
    `dots` for an attention that reads keys where they lie, and one with tiles
    of more than 64 vectors of sums.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "16",
           "f32 in one vector register of the target">,
    Option<"registers", "registers", "int64_t", "32",
           "Vector registers of the target">,
    Option<"cacheBytes", "cache-bytes", "int64_t", "32768",
           "Bytes of the target's first data cache">,
    Option<"lookup", "lookup", "bool", "false",
           "The target is AVX-512: exponentials by a table in registers">,
    Option<"dots", "dots", "bool", "false",
           "The target has AVX512-BF16: products of pairs of bf16 by one "
           "instruction">,
    Option<"relaxedBF16", "relaxed-bf16", "bool", "false",
           "Attention of bf16 may round rotated queries and keys, values, and "
           "weights to bf16: with dots it is faster">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::rope::RopeDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AttentionToVectorPass : Pass<"rope-attention-to-vector", "ModuleOp"> {
  let summary = "Turn attention on buffers into loops over vectors";
  let description = [{
    Replaces each `rope.attention` on memrefs that has a complete plan by a call
    of a private function of loops over vectors. Ops of a module that differ in
    nothing but their operands share one function. Results must share no memory
    with each other or an input, as rope-plan and bufferization see to.

    For each key-value head the function rotates keys and transposes them into
    panels, and copies values if they need a rotation, a conversion or padding.
    Then it goes over blocks of query rows: queries are scaled and rotated; for
    each panel of keys and each strip of rows, scores are products in vectors
    that the loop over channels carries, weights are 2^(score − reference), and
    weights times values are added to the output; at the end the output is
    divided, turned back and rounded. Weights of one tile are computed in the
    loop that computes the scores of the next.

    With few query rows for a key-value head (decoding), packing would take
    longer than all else: keys and values are read where they lie, each score is
    the sum of the lanes of a vector, and the next keys and values are asked for
    beside the present ones. Both are read from one end to the other, for that is
    when memory is fastest: values of more channels than there are registers for
    are summed in turns of a few keys.

    The reference of a row is 0 until its scores leave the range in which f32
    can do without: then a careful path moves it, as it hides keys that lie
    across the edge of a mask. Tiles that no row sees are passed over.

    ```mlir
    rope.attention ins(%q, %k, %v : memref<8x512x64xf32>, ...) outs(%o : ...)
      scale 0.125 causal {rope.plan = #rope.cpu_plan<...>}
    // becomes
    call @rope_attention(%q, %k, %v, %o) : (...) -> ()
    ```

    Sums and exponentials are in f32; the bounds on results are those of the op,
    or with `dots` those of rope-plan.
  }];
  let options = [
    Option<"threads", "threads", "bool", "false",
           "Let OpenMP share heads, and rows or, of few heads in decoding, keys "
           "of these, among threads">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::omp::OpenMPDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::x86vector::X86VectorDialect"
  ];
}

def LinearAttentionToVectorPass
    : Pass<"rope-linear-attention-to-vector", "ModuleOp"> {
  let summary = "Turn linear attention on buffers into loops over vectors";
  let description = [{
    Replaces each `rope.linear_attention` on memrefs that has a complete plan by
    a call of a private function of loops over vectors, which ops of a module
    share that differ in nothing but their operands. Results must share no memory
    with each other or an input, as rope-plan and bufferization see to.

    Keys come in chunks (`keys` vectors of them). For each, a causal op adds up
    for its rows what they get from the state of all chunks before and, by a
    triangle of scores, from the chunk's own keys; then the chunk's keys and
    values enter the state. Without `causal` all keys enter the state before the
    first row is computed.

    ```mlir
    rope.linear_attention ins(%q, %k, %v : memref<8x512x64xf32>, ...) outs(%o : ...)
      feature_map elu_plus_one causal {rope.plan = #rope.cpu_plan<...>}
    // becomes
    call @rope_linear_attention(%q, %k, %v, %o) : (...) -> ()
    ```

    Sums are in f32 and reordered; over keys and rows of the state they add one
    term after the other. With N keys and D channels, an element of a state is
    within (N + 16)·2^-24 of the sum of the magnitudes of its terms, and one of
    the output within (N + D + 16)·2^-23 of that sum, divided as the element is,
    if the normaliser has no negative terms. A result of another type is rounded
    once more.
  }];
  let options = [
    Option<"threads", "threads", "bool", "false",
           "Let OpenMP share batches and key-value heads among threads">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def RotationToVectorPass : Pass<"rope-rotation-to-vector"> {
  let summary = "Turn rotations of buffers into loops over rows of channels";
  let description = [{
    Replaces each `rope.rotate` and `rope.rerotate` on memrefs that has a plan by
    loops over its leading dims. A row of channels is read once, turned in f32 in
    registers, rounded once and written once; the init may be the input. Where
    dims share a table, some rows of it stay in the cache while all that they
    turn passes by.

    A result of at least `stream-bytes` that is not the input, and whose rows are
    whole lines of the cache, is written past the caches, which memory takes
    faster than lines that are read before they are written. What is not known
    here, such as the address, is looked at when the code runs, and decides
    between two versions of the loops.

    ```mlir
    rope.rotate <half along [1]> ins(%x, %t : memref<8x512x64xf32>, memref<512x2x32xf32>)
      outs(%y : memref<8x512x64xf32>) {rope.plan = #rope.cpu_plan<>}
    // becomes
    scf.for %block = %c0 to %c512 step %c64 {
      scf.for %h = %c0 to %c8 step %c1 {
        scf.for %n = %block to %end step %c1 {
          %row = vector.load %x[%h, %n, %c0] : memref<8x512x64xf32>, vector<64xf32>
          %cosines = vector.load %t[%n, %c0, %c0] : memref<512x2x32xf32>, vector<32xf32>
          ...
          vector.store %turned, %y[%h, %n, %c0] : memref<8x512x64xf32>, vector<64xf32>
        }
      }
    }
    ```
  }];
  let options = [
    Option<"streamBytes", "stream-bytes", "int64_t", "67108864",
           "Bytes of a result from which on it is written past the caches: a "
           "few times the last-level cache; 0: never">,
    Option<"threads", "threads", "bool", "false",
           "Let OpenMP share blocks of rows among threads">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::omp::OpenMPDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ShareLoopsPass : Pass<"rope-share-loops"> {
  let summary = "Let OpenMP share scf.forall among threads";
  let description = [{
    Runs on buffers whose deallocations are in place. The outermost `scf.forall`
    become parallel regions of OpenMP, in which each thread takes a run of the
    iterations; there is no team for a single one. A buffer that an iteration
    allocates and frees once is allocated by each thread for all of its
    iterations, if its size does not depend on these. An `scf.forall` within another becomes `scf.for`.

    ```mlir
    scf.forall (%i) = (0) to (%n) step (64) {
      %p = memref.alloc() : memref<2048x64xf32>
      ...
      memref.dealloc %p : memref<2048x64xf32>
    }
    // becomes
    omp.parallel if(%more_than_one) {
      %p = memref.alloc() : memref<2048x64xf32>
      omp.wsloop schedule(static) {
        omp.loop_nest (%j) : i64 = (%c0) to (%count) step (%c1) {
          ...
        }
      }
      memref.dealloc %p : memref<2048x64xf32>
      omp.terminator
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // ROPE_CODEGEN_CPU_PASSES
