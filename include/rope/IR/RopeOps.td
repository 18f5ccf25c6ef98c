//===- RopeOps.td - Operations of the rope dialect ----------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEOPS_TD
#define ROPE_IR_ROPEOPS_TD

include "rope/IR/RopeOpBase.td"

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

def Rope_TableOp : Rope_SingleInitOp<"table"> {
  let hasCanonicalizer = 1;
  let summary = "rotation table of positions";
  let description = [{
    Writes a·cos(p·ω_i) to plane 0 and a·sin(p·ω_i) to plane 1 of row p, for
    each pair i: the frequencies ω (radians per token) and the magnitude a are
    those of the attribute.

    `positions` are in tokens: an index is the start of consecutive rows
    (row r is position start + r); a shaped operand gives each row its own.
    Integers are signed. With several position axes a leading dim lists them,
    and `axes` names the axis of each pair. `length` is the current length of
    the sequence, for schedules that depend on it.

    Angle modes:
    - exact (the default): the angle is p·ω_i in real arithmetic for the
      frequency in f64. |Δcos| and |Δsin| are at most 1.5e-7 for f32 tables
      and |p| ≤ 1e7 (for integer positions up to 2^31).
    - `f32_angle`: the angle is f32(f32(p)·f32(ω_i)), as most models compute it.
    - `f32_quotient`: the angle is f32(f32(p)/f32(1/ω_i)).
      In both, cos and sin of that angle are within the same bound.

    Constraints:
    - C1: the table is [lead…, 2, P], with P static and positive.
    - C2: `lead` has the extents of the positions, without the axis dim; an
      index start has one leading dim.
    - C3: `axes` has an entry for each pair, each within the positions' static
      first dim; an index start has no axes.
    - C4: the schedule can serve P pairs.
    - C5: `length` is there if and only if the frequencies depend on it.

    Example:
    ```mlir
    %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<?x?xi64>) f32_angle
           outs(%init : tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32>
    ```
  }];
  let arguments = (ins
    Rope_FrequencyAttrInterface:$frequencies,
    Rope_Positions:$positions,
    Optional<Index>:$length,
    Rope_FloatShaped:$init,
    OptionalAttr<DenseI64ArrayAttr>:$axes,
    DefaultValuedAttr<Rope_AngleModeAttr,
                      "::mlir::rope::AngleMode::Exact">:$angle_mode);
  let assemblyFormat = [{
    $frequencies `ins` `(` $positions `:` type($positions) `)`
    (`length` `(` $length^ `)`)? (`axes` $axes^)?
    custom<AngleMode>($angle_mode)
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let builders = [
    OpBuilder<(ins "FrequencyAttrInterface":$frequencies, "::mlir::Value":$positions,
                   "::mlir::Value":$init,
                   CArg<"AngleMode", "AngleMode::Exact">:$angleMode,
                   CArg<"::mlir::Value", "{}">:$length,
                   CArg<"::mlir::DenseI64ArrayAttr", "{}">:$axes)>];
}

def Rope_AssembleOp : Rope_SingleInitOp<"assemble"> {
  let summary = "rotation table of a model's own cosines and sines";
  let description = [{
    Plane 0 of the table is `cos`, plane 1 is `sin`, each rounded to the type
    of the table. Nothing is assumed of the numbers.

    Constraints:
    - C1: the table is [lead…, 2, W], with W static and positive.
    - C2: `cos` and `sin` have the shape [lead…, W].

    Example:
    ```mlir
    %t = rope.assemble ins(%cos, %sin : tensor<?x64xf32>, tensor<?x64xf32>)
           outs(%init : tensor<?x2x64xf32>) -> tensor<?x2x64xf32>
    ```
  }];
  let arguments = (ins Rope_FloatShaped:$cos, Rope_FloatShaped:$sin,
                       Rope_FloatShaped:$init);
  let assemblyFormat = [{
    `ins` `(` $cos `,` $sin `:` type($cos) `,` type($sin) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$cos, "::mlir::Value":$sin,
                                 "::mlir::Value":$init)>];
}

def Rope_ComposeOp : Rope_SingleInitOp<"compose"> {
  let hasCanonicalizer = 1;
  let summary = "product or quotient of two rotation tables";
  let description = [{
    Takes an entry of a table as the complex number z = cos + i·sin and writes
    z_lhs · z_rhs, or z_lhs / z_rhs with `inverse`: rotations one after the
    other, so that positions add (or subtract) and magnitudes multiply (or
    divide). Shifts a cache of keys, or moves it to another length regime.
    The tables have an entry for each pair; `full` tables do not compose.

    Constraints:
    - C1: the tables are [lead…, 2, W], with W static and positive.
    - C2: the tables have the same shape.

    Example:
    ```mlir
    %d = rope.compose ins(%to, inverse %from : tensor<8x2x64xf32>, tensor<8x2x64xf32>)
           outs(%init : tensor<8x2x64xf32>) -> tensor<8x2x64xf32>
    ```
  }];
  let arguments = (ins Rope_FloatShaped:$lhs, Rope_FloatShaped:$rhs,
                       Rope_FloatShaped:$init, UnitAttr:$inverse);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` (`inverse` $inverse^)? $rhs `:` type($lhs) `,` type($rhs) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "::mlir::Value":$init, "bool":$inverse)>];
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

def Rope_RotateOp : Rope_RotationOp<"rotate"> {
  let summary = "rotation of pairs of channels by a table";
  let description = [{
    For each pair (u, v) of channels of the last dim and its entry (c, s) of
    the table: y_u = u·c − v·s, y_v = v·c + u·s. Other channels are copied.
    `#rope.rotary` says which channels form pairs and which dims of the input
    the table's leading dims follow; the table is shared along the others.

    Constraints:
    - C1 to C5 of `#rope.rotary`.
    - C6: input and init have the same shape and element type.
    - C7: the table is [lead…, 2, W].

    Example:
    ```mlir
    %y = rope.rotate <half along [0, 2]>
           ins(%x, %t : tensor<2x8x?x128xf32>, tensor<2x?x2x64xf32>)
           outs(%init : tensor<2x8x?x128xf32>) -> tensor<2x8x?x128xf32>
    ```
  }];
}

def Rope_RerotateOp : Rope_RotationOp<"rerotate"> {
  let summary = "the opposite rotation of pairs of channels";
  let description = [{
    As `rope.rotate`, by the conjugate table: y_u = u·c + v·s,
    y_v = v·c − u·s. It undoes a rotation by a table of magnitude 1, turns the
    output of attention over rotated values back (RoPER), and is the gradient
    of `rope.rotate`. With a `full` table y_u = u·c[u] + v·s[u] and
    y_v = v·c[v] − u·s[v]: sines are negated, nothing is transposed.

    Pairs are read by the first pairing of `#rope.rotary` and written by the
    second, as in `rope.rotate`.

    Constraints:
    - C1 to C5 of `#rope.rotary`.
    - C6: input and init have the same shape and element type.
    - C7: the table is [lead…, 2, W].

    Example:
    ```mlir
    %y = rope.rerotate <interleaved along [1]>
           ins(%x, %t : tensor<8x?x64xf32>, tensor<?x2x16xf32>)
           outs(%init : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Rope_AttentionOp : Rope_AttentionLikeOp<"attention"> {
  let summary = "scaled dot-product attention with rotations";
  let description = [{
    For each batch b, key-value head h and query head g of that head:

      s_mn = scale·⟨R_q(q_m), R_k(k_n)⟩
      s_mn = softcap·tanh(s_mn / softcap)          (with `softcap`)
      s_mn = s_mn + mask_mn                        (a float mask)
      o_m  = R_o⁻( Σ_n exp(s_mn − lse_m)·R_v(v_n) ),  lse_m = ln Σ_n exp(s_mn)

    over the keys n that row m sees: n < key_length; a boolean mask is true;
    `causal`: kpos_n ≤ qpos_m; `window` [l, r]: −r ≤ qpos_m − kpos_n ≤ l (−1:
    unbounded on that side). Masked keys are selected away, never added to. A
    row that sees no key gives 0 and lse −∞. `sink` is one more logit of each
    head that only enters lse (and then an empty row has the sink as lse). A
    float mask of −∞ masks.

    `rotate_query`, `rotate_key` and `rotate_value` turn an operand as
    `rope.rotate` does, `rerotate_output` the output as `rope.rerotate`: with
    values rotated and the output turned back this is RoPER.

    `query_pos` and `key_pos` order the mask, in tokens: an index or a value
    for each batch is the position of the first row, and a dim m (n) lists the
    positions. Without them row m is at position m, and key n at n. They say
    nothing of the tables: rotary positions are often the same numbers, but
    need not be. `key_length` is the number of keys that are there, the same
    for all or one for each batch.

    inits: the output, and the natural log-sum-exp if wanted.

    Scores, their sum with a float mask, exponentials and sums are in f32 (f64
    if query, key or value are), and the results are rounded once. For inputs
    in [−1, 1], scale 1/√D and up to 4096 keys an f32 output is within 5e-7 of
    the formula. A bf16 or f16 output is within 1.05 units in the last place of
    the formula rounded once, or within 5e-7 of it where values cancel: sums
    in f32 have no better relative error than that.

    Constraints:
    - C1: each operand has the dims that `layout` or its default gives it.
    - C2: extents of one letter agree; the extent of (hg) is a multiple of h.
    - C3: operands are all tensors or all memrefs, besides indices.
    - C4: a rotated operand ends with its channels; C1 to C5 of `#rope.rotary`.
      There is a rotary if and only if there is a table.
    - C5: scale is finite; softcap is finite and positive.
    - C6: window has two entries, each at least −1.
    - C7: there are one or two inits; the second (lse) is f32 or f64.
    - C8: inits have each of b, h, g and m, unless its extent is 1. One that is
      dynamic is checked at run time.

    Example:
    ```mlir
    %o = rope.attention
           ins(%q, %k, %v : tensor<1x32x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>)
           rotate_query(%t : tensor<?x2x64xf32>) <half along [2]>
           rotate_key(%t : tensor<?x2x64xf32>) <half along [2]>
           outs(%init : tensor<1x32x?x128xf32>) scale 0.088388347648318447 causal
           -> tensor<1x32x?x128xf32>
    ```
  }];
  let arguments = (ins
    Rope_FloatShaped:$query, Rope_FloatShaped:$key, Rope_FloatShaped:$value,
    Optional<Rope_MaskShaped>:$mask, Optional<Rope_Slots>:$query_pos,
    Optional<Rope_Slots>:$key_pos, Optional<Rope_Slots>:$key_length,
    Optional<Rope_FloatShaped>:$sink,
    Optional<Rope_FloatShaped>:$query_table,
    Optional<Rope_FloatShaped>:$key_table,
    Optional<Rope_FloatShaped>:$value_table,
    Optional<Rope_FloatShaped>:$output_table,
    Variadic<Rope_FloatShaped>:$inits,
    F64Attr:$scale, UnitAttr:$causal, OptionalAttr<DenseI64ArrayAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Rope_RotaryAttr>:$query_rotary,
    OptionalAttr<Rope_RotaryAttr>:$key_rotary,
    OptionalAttr<Rope_RotaryAttr>:$value_rotary,
    OptionalAttr<Rope_RotaryAttr>:$output_rotary,
    OptionalAttr<Rope_LayoutAttr>:$layout);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
      type($query) `,` type($key) `,` type($value) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`query_pos` `(` $query_pos^ `:` type($query_pos) `)`)?
    (`key_pos` `(` $key_pos^ `:` type($key_pos) `)`)?
    (`key_length` `(` $key_length^ `:` type($key_length) `)`)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`rotate_query` `(` $query_table^ `:` type($query_table) `)` $query_rotary)?
    (`rotate_key` `(` $key_table^ `:` type($key_table) `)` $key_rotary)?
    (`rotate_value` `(` $value_table^ `:` type($value_table) `)` $value_rotary)?
    (`rerotate_output` `(` $output_table^ `:` type($output_table) `)`
      $output_rotary)?
    `outs` `(` $inits `:` type($inits) `)`
    `scale` $scale (`causal` $causal^)? (`window` $window^)?
    (`softcap` $softcap^)? (`layout` $layout^)? attr-dict
    (`->` type($results)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key,
                   "::mlir::Value":$value, "::mlir::ValueRange":$inits,
                   "double":$scale)>];
}

def Rope_OnlineAttentionOp : Rope_AttentionLikeOp<"online_attention", [
    DeclareOpInterfaceMethods<PartialReductionOpInterface, [
      "generateInitialTensorForPartialReduction", "tileToPartialReduction",
      "mergeReductions", "getPartialResultTilePosition"]>]> {
  let summary = "attention over a block of keys, carrying its state";
  let description = [{
    The form of `rope.attention` that may be cut along its keys. The inits
    carry the unnormalised accumulator, the maximum of the scores (in natural
    units) and the sum of their exponentials over the keys seen so far, and
    are read and written:

      max' = max(max, max_n s_mn)
      sum' = sum·exp(max − max') + Σ_n exp(s_mn − max')
      acc' = acc·exp(max − max') + Σ_n exp(s_mn − max')·R_v(v_n)

    with the scores s and the keys that a row sees as in `rope.attention`. The
    state before any key is (0, −∞, 0), and exp(−∞ − (−∞)) is taken as 0. The
    output is acc/sum, or 0 where sum is 0; lse = max + ln sum. Sinks and the
    rotation of the output belong after the last block.

    Constraints: C1 to C6 and C8 of `rope.attention`, and
    - C7: there are three inits, acc, max and sum, of f32 or f64.

    Example:
    ```mlir
    %s:3 = rope.online_attention
           ins(%q, %k, %v : tensor<8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
           query_pos(%m : index) key_pos(%n : index)
           outs(%acc, %max, %sum : tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>)
           scale 0.125 causal -> tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins
    Rope_FloatShaped:$query, Rope_FloatShaped:$key, Rope_FloatShaped:$value,
    Optional<Rope_MaskShaped>:$mask, Optional<Rope_Slots>:$query_pos,
    Optional<Rope_Slots>:$key_pos, Optional<Rope_Slots>:$key_length,
    Optional<Rope_FloatShaped>:$query_table,
    Optional<Rope_FloatShaped>:$key_table,
    Optional<Rope_FloatShaped>:$value_table,
    Variadic<Rope_AccumulatorShaped>:$inits,
    F64Attr:$scale, UnitAttr:$causal, OptionalAttr<DenseI64ArrayAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Rope_RotaryAttr>:$query_rotary,
    OptionalAttr<Rope_RotaryAttr>:$key_rotary,
    OptionalAttr<Rope_RotaryAttr>:$value_rotary,
    OptionalAttr<Rope_LayoutAttr>:$layout);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
      type($query) `,` type($key) `,` type($value) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`query_pos` `(` $query_pos^ `:` type($query_pos) `)`)?
    (`key_pos` `(` $key_pos^ `:` type($key_pos) `)`)?
    (`key_length` `(` $key_length^ `:` type($key_length) `)`)?
    (`rotate_query` `(` $query_table^ `:` type($query_table) `)` $query_rotary)?
    (`rotate_key` `(` $key_table^ `:` type($key_table) `)` $key_rotary)?
    (`rotate_value` `(` $value_table^ `:` type($value_table) `)` $value_rotary)?
    `outs` `(` $inits `:` type($inits) `)`
    `scale` $scale (`causal` $causal^)? (`window` $window^)?
    (`softcap` $softcap^)? (`layout` $layout^)? attr-dict
    (`->` type($results)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key,
                   "::mlir::Value":$value, "::mlir::ValueRange":$inits,
                   "double":$scale)>];
}

def Rope_LinearAttentionOp : Rope_AttentionLikeOp<"linear_attention"> {
  let summary = "linear attention with rotations, and its carried state";
  let description = [{
    With the feature map φ, and all keys n, or those with n ≤ m if `causal`:

      num_m = Σ_n ⟨R_q(φ(q_m)), R_k(φ(k_n))⟩·v_n
      den_m = Σ_n ⟨φ(q_m), φ(k_n)⟩
      o_m   = num_m / (den_m + normalizer_eps), or num_m without `normalizer_eps`

    The rotation follows φ and enters the numerator alone (RoFormer, eq. 10);
    a rotation before φ is an ordinary `rope.rotate`. φ is `identity`,
    `elu_plus_one` (x + 1 for x > 0, else exp(x)), `relu` or `exp`.

    Two states may be carried, read and written, so that the sums run on over
    the next chunk of the sequence: kv_state = Σ_n R_k(φ(k_n))⊗v_n and, for
    the normaliser, k_sum = Σ_n φ(k_n). Each starts at 0.

    inits: the output, then kv_state, then k_sum.

    Constraints: C1 to C4 and C8 of `rope.attention`, and
    - C5: `causal`: there are as many keys as query rows.
    - C6: there are one to three inits; a normaliser over carried sums needs
      both states, and k_sum needs a normaliser.
    - C7: `normalizer_eps` is finite and not negative; states are f32 or f64.

    Example:
    ```mlir
    %o:3 = rope.linear_attention
           ins(%q, %k, %v : tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>)
           rotate_query(%t : tensor<512x2x32xf32>) <interleaved along [1]>
           rotate_key(%t : tensor<512x2x32xf32>) <interleaved along [1]>
           outs(%init, %s, %z : tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>)
           feature_map elu_plus_one causal normalizer_eps 1.0e-6
           -> tensor<8x512x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>
    ```
  }];
  let arguments = (ins
    Rope_FloatShaped:$query, Rope_FloatShaped:$key, Rope_FloatShaped:$value,
    Optional<Rope_FloatShaped>:$query_table,
    Optional<Rope_FloatShaped>:$key_table,
    Variadic<Rope_FloatShaped>:$inits,
    Rope_FeatureMapAttr:$feature_map, UnitAttr:$causal,
    OptionalAttr<F64Attr>:$normalizer_eps,
    OptionalAttr<Rope_RotaryAttr>:$query_rotary,
    OptionalAttr<Rope_RotaryAttr>:$key_rotary,
    OptionalAttr<Rope_LayoutAttr>:$layout);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
      type($query) `,` type($key) `,` type($value) `)`
    (`rotate_query` `(` $query_table^ `:` type($query_table) `)` $query_rotary)?
    (`rotate_key` `(` $key_table^ `:` type($key_table) `)` $key_rotary)?
    `outs` `(` $inits `:` type($inits) `)`
    `feature_map` custom<FeatureMap>($feature_map) (`causal` $causal^)?
    (`normalizer_eps` $normalizer_eps^)? (`layout` $layout^)? attr-dict
    (`->` type($results)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key,
                   "::mlir::Value":$value, "::mlir::ValueRange":$inits,
                   "FeatureMap":$featureMap)>];
}

#endif // ROPE_IR_ROPEOPS_TD
