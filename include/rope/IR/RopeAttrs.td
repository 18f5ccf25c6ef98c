//===- RopeAttrs.td - Attributes of the rope dialect --------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEATTRS_TD
#define ROPE_IR_ROPEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "rope/IR/RopeAttrInterfaces.td"
include "rope/IR/RopeDialect.td"
include "rope/IR/RopeEnums.td"

class Rope_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Rope_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

//===----------------------------------------------------------------------===//
// How an operand is rotated
//===----------------------------------------------------------------------===//

def Rope_RotaryAttr : Rope_Attr<"Rotary", "rotary"> {
  let summary = "which channels form pairs, and which dims follow the table";
  let description = [{
    Says how the last dim of an operand is rotated by a table [lead…, 2, W].

    Syntax: `#rope.rotary<read [to write] [offset = o] [distance = h]
    along [dims] [full = true]>`.

    With P pairs, pair i reads the channels
    - `half`: (o + i, o + i + h); h is P unless `distance` says otherwise;
    - `interleaved`: (o + 2i, o + 2i + 1).

    `to` names the pairing of the channels that are written, if it differs.
    Channels outside of all pairs pass through. `along` lists the dims of the
    operand which the leading dims of the table follow, in the table's order.

    `full`: W = 2P, an entry for each channel of the pairs, in the order that
    the pairing gives them (half: i and P + i; interleaved: 2i and 2i + 1):
    y_u = u·c[u] − v·s[u], y_v = v·c[v] + u·s[v]. Such a table need not be a
    rotation, so the algebra of rotations does not apply to it.

    Constraints on operand and table:
    - C1: W is static and positive, and even with `full`.
    - C2: the channels lie in the operand's static last dim; no channel is in
      two pairs.
    - C3: the channels read are the channels written.
    - C4: `along` has an entry for each leading dim of the table; they are
      distinct dims of the operand, and none is the last.
    - C5: the extents of the table's leading dims are those of the operand.

    Example:
    ```mlir
    #gptj = #rope.rotary<interleaved along [1]>
    #mla = #rope.rotary<interleaved to half offset = 128 along [0, 2]>
    ```
  }];
  let parameters = (ins
    EnumParameter<Rope_Pairing>:$readPairing,
    EnumParameter<Rope_Pairing>:$writePairing,
    "int64_t":$offset,
    "std::optional<int64_t>":$distance,
    ArrayRefParameter<"int64_t">:$along,
    "bool":$full);
  let builders = [
    AttrBuilder<(ins "Pairing":$pairing, "::llvm::ArrayRef<int64_t>":$along), [{
      return $_get($_ctxt, pairing, pairing, 0, std::nullopt, along, false);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of pairs that a table of this width W turns.
    int64_t getNumPairs(int64_t width) const {
      return getFull() ? width / 2 : width;
    }
    /// The two channels that pair `i` of `pairs` reads.
    std::pair<int64_t, int64_t> getReadChannels(int64_t i, int64_t pairs) const;
    /// The two channels that pair `i` of `pairs` writes.
    std::pair<int64_t, int64_t> getWrittenChannels(int64_t i,
                                                   int64_t pairs) const;
    /// The two entries of a row of the table that serve pair `i` of `pairs`:
    /// the same one twice unless the table is `full`.
    std::pair<int64_t, int64_t> getTableEntries(int64_t i, int64_t pairs) const;
    /// Checks C1 to C5 for an operand and its table; `emitError` opens the
    /// diagnostic, `name` is what to call the operand in it.
    ::llvm::LogicalResult
    verifyFor(::mlir::ShapedType operand, ::mlir::ShapedType table,
              ::llvm::StringRef name,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
    /// This attribute with other dims for the table to follow.
    RotaryAttr withAlong(::llvm::ArrayRef<int64_t> along) const;
  }];
}

//===----------------------------------------------------------------------===//
// Which dim of an operand is which
//===----------------------------------------------------------------------===//

def Rope_LayoutAttr : Rope_Attr<"Layout", "layout"> {
  let summary = "the domain dims of each operand of an attention";
  let description = [{
    Names the dims of operands by the letters of the domain of attention:
    `b` batch, `h` key-value head, `g` query head of one key-value head,
    `m` query row, `n` key row, `d` channel of query and key, `e` channel of
    value. `(hg)` is one dim which holds both, h outermost; `1` is a dim of
    extent 1 that is broadcast. A letter that an operand lacks is broadcast.
    Where no operand has g as a dim of its own, its extent is that of (hg) over
    that of h; where only h has none, h is (hg) over g; where both have none, h
    is 1.

    A role left out has its default: trailing dims of
    query `b(hg)md` (rank 5: `bhgmd`), key `bhnd`, value `bhne`, output
    `b(hg)me`, mask `b(hg)mn`, sink `(hg)`, lse `b(hg)m`, kv_state `bhde`,
    k_sum `bhd`, query_pos `bm`, key_pos `bn`, key_length `b`; static
    extents of 1 in a mask are `1`.

    Constraints:
    - C1: letters are those that the role may have (queries have no n, …),
      each at most once.
    - C2: query and key have d, key and value n, value and output e.

    Example:
    ```mlir
    #bshd = #rope.layout<query = "bm(hg)d", key = "bnhd", value = "bnhe",
                         output = "bm(hg)e">
    ```
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::StringAttr">:$query,
    OptionalParameter<"::mlir::StringAttr">:$key,
    OptionalParameter<"::mlir::StringAttr">:$value,
    OptionalParameter<"::mlir::StringAttr">:$output,
    OptionalParameter<"::mlir::StringAttr">:$mask,
    OptionalParameter<"::mlir::StringAttr">:$query_pos,
    OptionalParameter<"::mlir::StringAttr">:$key_pos,
    OptionalParameter<"::mlir::StringAttr">:$key_length,
    OptionalParameter<"::mlir::StringAttr">:$sink,
    OptionalParameter<"::mlir::StringAttr">:$lse,
    OptionalParameter<"::mlir::StringAttr">:$kv_state,
    OptionalParameter<"::mlir::StringAttr">:$k_sum);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The letters given for a role, or null.
    ::mlir::StringAttr getLetters(OperandRole role) const;
  }];
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

/// A number in f64, written without its type.
class Rope_F64 : AttrParameter<"::mlir::FloatAttr", "a number in f64"> {
  let parser = "::mlir::FieldParser<::mlir::FloatAttr>::parse($_parser)";
  let printer = "$_printer.printFloat($_self.getValue())";
}
def Rope_F64Parameter : Rope_F64;
def Rope_OptionalF64Parameter : Rope_F64 {
  let defaultValue = "::mlir::FloatAttr()";
}

/// A list of numbers in f64. By default it would print six digits of each.
def Rope_F64List : AttrParameter<"::mlir::DenseF64ArrayAttr", "a list of f64"> {
  let printer = [{
    $_printer << "[";
    ::llvm::interleaveComma($_self.asArrayRef(), $_printer, [&](double value) {
      $_printer.printFloat(::llvm::APFloat(value));
    });
    $_printer << "]"
  }];
}

class Rope_FrequencyAttr<string name, string mnemonic, list<string> methods = []>
    : Rope_Attr<name, mnemonic, [
        DeclareAttrInterfaceMethods<Rope_FrequencyAttrInterface, methods>]> {
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Rope_DefaultAttr : Rope_FrequencyAttr<"Default", "default"> {
  let summary = "ω_i = θ^(−2i/d)";
  let description = [{
    With d = 2P: ω_i = θ^(−2i/d).

    Constraints, of all schedules that do not say otherwise: the numbers are
    positive, normal f64; θ is over 1; trained lengths are at most 2^53.

    Example: `#rope.default<1.0e4>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta);
  let assemblyFormat = "`<` $theta `>`";
}

def Rope_LinearAttr : Rope_FrequencyAttr<"Linear", "linear"> {
  let summary = "ω_i = θ^(−2i/d) / factor (position interpolation)";
  let description = [{
    Example: `#rope.linear<theta = 1.0e4, factor = 4.0>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$factor);
}

def Rope_NTKAttr : Rope_FrequencyAttr<"NTK", "ntk", ["verifyPairs"]> {
  let summary = "default with θ' = θ·factor^(d/(d−2))";
  let description = [{
    Constraints: more than one pair; θ' is a normal f64.

    Example: `#rope.ntk<theta = 1.0e4, factor = 4.0>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$factor);
}

def Rope_DynamicNTKAttr : Rope_FrequencyAttr<"DynamicNTK", "dynamic_ntk",
    ["dependsOnLength", "buildFrequencies", "verifyPairs"]> {
  let summary = "NTK that grows with the length";
  let description = [{
    With L = max(length, trained):
    θ' = θ·(factor·L/trained − (factor − 1))^(d/(d−2)).

    Constraint: more than one pair.

    Example: `#rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$factor,
                        "int64_t":$trained);
}

def Rope_YarnAttr : Rope_FrequencyAttr<"Yarn", "yarn", ["computeMagnitude"]> {
  let summary = "YaRN: interpolates low frequencies, keeps high ones";
  let description = [{
    With dim(β) = d·ln(trained/(2πβ))/(2·ln θ), low = dim(beta_fast) and
    high = dim(beta_slow), rounded down and up if `truncate`, then low raised
    to 0 if it is less, high lowered to d − 1 if it is more, and high raised by
    0.001 if the two are equal, γ_i = 1 − clamp((i − low)/(high − low), 0, 1)
    and w_i = θ^(−2i/d): ω_i = (w_i/factor)·(1 − γ_i) + w_i·γ_i. Left out,
    beta_fast is 32, beta_slow is 1 and truncate is true.

    The magnitude a is `magnitude` if given; else g(mscale)/g(mscale_all_dim)
    if both are given; else g(1), where g(s) = 0.1·s·ln(factor) + 1 for a factor
    over 1 and 1 otherwise.

    Constraints: mscale and mscale_all_dim go together; the logarithms are
    finite, and the magnitude is a positive, normal f64.

    Example: `#rope.yarn<theta = 1.0e4, factor = 40.0, trained = 4096>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$factor,
      "int64_t":$trained,
      Rope_OptionalF64Parameter:$beta_fast,
      Rope_OptionalF64Parameter:$beta_slow,
      OptionalParameter<"::mlir::BoolAttr">:$truncate,
      Rope_OptionalF64Parameter:$magnitude,
      Rope_OptionalF64Parameter:$mscale,
      Rope_OptionalF64Parameter:$mscale_all_dim);
}

def Rope_Llama3Attr : Rope_FrequencyAttr<"Llama3", "llama3"> {
  let summary = "Llama 3.1: divides low frequencies, blends the middle";
  let description = [{
    With w_i = θ^(−2i/d) and wavelength λ_i = 2π/w_i: w_i/factor where
    λ_i > trained/low; w_i where λ_i < trained/high; between them
    (1 − s)·w_i/factor + s·w_i with s = (trained/λ_i − low)/(high − low).

    Constraint: low is less than high.

    Example: `#rope.llama3<theta = 5.0e5, factor = 8.0, low = 1.0, high = 4.0,
    trained = 8192>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$factor,
      Rope_F64Parameter:$low, Rope_F64Parameter:$high, "int64_t":$trained);
}

def Rope_LongRopeAttr : Rope_FrequencyAttr<"LongRope", "longrope",
    ["dependsOnLength", "buildFrequencies", "verifyPairs", "computeMagnitude"]> {
  let summary = "LongRoPE: one list of divisors up to the trained length, one beyond";
  let description = [{
    ω_i = θ^(−2i/d) / e_i, where e is `long_factors` for a length over
    `trained` and `short_factors` otherwise. The magnitude is 1 unless given
    (models use √(1 + ln(factor)/ln(trained))).

    Constraint: a factor for each pair in both lists.

    Example: `#rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0],
    long_factors = [1.0, 8.0], trained = 4096, magnitude = 1.19>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta,
      Rope_F64List:$short_factors, Rope_F64List:$long_factors, "int64_t":$trained,
      Rope_OptionalF64Parameter:$magnitude);
}

def Rope_ProportionalAttr : Rope_FrequencyAttr<"Proportional", "proportional"> {
  let summary = "default frequencies for a share of the pairs, zero for the rest";
  let description = [{
    ω_i = θ^(−2i/d) for i < ⌊share·d/2⌋ and 0 for the other pairs.

    Constraint: share is at most 1.

    Example: `#rope.proportional<theta = 1.0e6, share = 0.25>`
  }];
  let parameters = (ins Rope_F64Parameter:$theta, Rope_F64Parameter:$share);
}

def Rope_ExplicitAttr : Rope_FrequencyAttr<"Explicit", "explicit",
    ["verifyPairs", "computeMagnitude"]> {
  let summary = "a list of frequencies";
  let description = [{
    Constraint: a frequency for each pair, each finite (and of any sign).

    Example: `#rope.explicit<frequencies = [1.0, 0.1], magnitude = 1.2>`
  }];
  let parameters = (ins Rope_F64List:$frequencies,
      Rope_OptionalF64Parameter:$magnitude);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// A number that 0 leaves open.
def Rope_Choice : DefaultValuedParameter<"int64_t", "0">;

def Rope_CPUPlanAttr : Rope_Attr<"CPUPlan", "cpu_plan"> {
  let summary = "how attention becomes vector code for a CPU";
  let description = [{
    The discardable attribute `rope.plan` of an attention, a linear attention or
    a rotation. rope-plan writes it, a user may write it, and
    rope-attention-to-vector, rope-linear-attention-to-vector and
    rope-rotation-to-vector read it: an op that has one is not decomposed. A plan
    is advice; but for `dots` it never changes what an op means. A number left
    out, or 0, is chosen by rope-plan.

    Of an attention:

    - `lanes`: f32 in one vector.
    - `rows`, `keys`: a score tile is this many query rows by this many vectors
      of keys, which also are one panel of packed keys.
    - `channels`: vectors of value channels that are summed together.
    - `group`: tiles of rows whose values are summed together, one after the
      other, so that a panel of values stays in the first cache.
    - `strips`: tiles of rows that go over all keys together.
    - `weave`: reduction steps of the next score tile that stand beside the
      exponentials of one row of this one; -1 keeps the two apart.
    - `stream`: with at most so many query rows for a key-value head, keys and
      values are read where they lie (decoding) instead of packed; -1: never. If
      the number of rows is not known, any positive number means that they are.
    - `lookup`: exponentials by a table in registers (AVX-512).
    - `dots`: products of pairs of bf16 (AVX512-BF16), for which rotated
      operands and weights are rounded to bf16, and keys are packed.

    Of a linear attention `lanes` is the same, `keys` are the vectors of keys of
    a chunk, and a register tile is `rows` rows (of queries, or of the state) by
    `channels` vectors of value channels. Other numbers mean nothing there, and
    none mean anything on a rotation.

    Constraint: lanes are a power of two up to 64, `weave` and `stream` are at
    least -1, and the other numbers are between 0 and 64.

    Example: `#rope.cpu_plan<lanes = 16, rows = 4, keys = 4>`
  }];
  let parameters = (ins
    Rope_Choice:$lanes, Rope_Choice:$rows, Rope_Choice:$keys,
    Rope_Choice:$channels, Rope_Choice:$group, Rope_Choice:$strips,
    Rope_Choice:$weave, Rope_Choice:$stream,
    DefaultValuedParameter<"bool", "false">:$lookup,
    DefaultValuedParameter<"bool", "false">:$dots);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // ROPE_IR_ROPEATTRS_TD
