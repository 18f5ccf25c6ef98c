"""Cases of attention to time: their rope IR, their inputs and what is right.

    cases.py CASE > kernel.mlir

A case is OP[:FIELD...]. OP is attn, rope_attn (queries and keys turn) or
roper_attn (values turn too, and the output back). Fields, in any order:

    f32 | bf16 | f16      type of query, key, value and output
    full | causal
    H8 K2 S512 N512 D64   query heads, key-value heads, rows, keys, channels
    window256             only so many keys before a row's own position
    softcap30             scores are softcap * tanh(score / softcap)
    sink                  a logit for each head that only enters the sum
    keep | add            a boolean mask (most keys are seen), or a float mask
    lse                   log-sum-exps are results as well
    interleaved           neighbouring channels are pairs, instead of halves
    partial               the first half of the channels turns
    amp30                 queries and keys are as many times larger
    avx2                  compiled for AVX2
    dots                  with products of pairs of bf16, by relaxed-bf16
    {group = 1, rows = 6} numbers of the plan, which is else chosen

The function @kernel takes, as memrefs: q [1, H, S, D], k and v [1, K, N, D],
cos and sin [max(S, N), pairs] in f32, then the mask [S, N] and the sinks [H]
if there are any, out [1, H, S, D], and the lse [1, H, S] in f32.
"""

import re
import sys

import numpy as np

THETA = 10000.0
OPS = ("attn", "rope_attn", "roper_attn")
FLAGS = ("sink", "lse", "interleaved", "partial", "avx2", "dots")


class Case:
    """What the fields of a case say."""

    def __init__(self, text):
        self.text, self.plan = text, None
        if match := re.search(r":?\{(.*)\}", text):
            text, self.plan = text.replace(match[0], ""), match[1]
        op, *fields = text.split(":")
        if op not in OPS:
            sys.exit(f"no such operation: {op!r} of case {text!r}")
        self.op, self.dtype, self.causal, self.mask = op, "f32", False, None
        self.window = self.softcap = None
        self.amp = 1.0
        for flag in FLAGS:
            setattr(self, flag, flag in fields)
        sizes = dict(H=8, S=512, D=64)
        for field in fields:
            self._read(field, sizes)
        self.heads, self.rows, self.channels = sizes["H"], sizes["S"], sizes["D"]
        self.groups = sizes.get("K", self.heads)
        self.keys = sizes.get("N", self.rows)
        self.pairs = self.channels // (4 if self.partial else 2)

    def _read(self, field, sizes):
        if field in FLAGS:
            return
        if field in ("f32", "bf16", "f16"):
            self.dtype = field
        elif field in ("full", "causal"):
            self.causal = field == "causal"
        elif field in ("keep", "add"):
            self.mask = field
        elif re.fullmatch(r"[HKSND]\d+", field):
            sizes[field[0]] = int(field[1:])
        elif match := re.fullmatch(r"(window|softcap|amp)(\d+)", field):
            setattr(self, match[1], int(match[2]))
        else:
            sys.exit(f"no such field: {field!r} of case {self.text!r}")

    @property
    def turns(self):
        return self.op != "attn"

    @property
    def decodes(self):
        return self.rows == 1

    def bytes(self):
        """Of keys and values."""
        size = 4 if self.dtype == "f32" else 2
        return 2 * self.groups * self.keys * self.channels * size

    def flops(self):
        """Of the keys that rows see; what a mask hides counts as seen."""
        seen = np.full(self.rows, self.keys)
        positions = np.arange(self.rows)
        if self.causal:
            # The middle of the diagonal, as everybody counts.
            seen = np.minimum(seen, positions + 0.5)
        if self.window is not None:
            seen = np.minimum(seen, self.window + 1)
        return 4 * self.heads * self.channels * float(seen.sum())


# ---- rope IR

def memref(*shape_and_type):
    return "memref<" + "x".join(str(x) for x in shape_and_type) + ">"


def arguments(case):
    """(name, type) of each argument of the kernel, in order."""
    query = memref(1, case.heads, case.rows, case.channels, case.dtype)
    key = memref(1, case.groups, case.keys, case.channels, case.dtype)
    table = memref(max(case.rows, case.keys), case.pairs, "f32")
    result = [("q", query), ("k", key), ("v", key), ("cos", table), ("sin", table)]
    if case.mask:
        result.append(("mask", memref(case.rows, case.keys, "i1" if case.mask == "keep" else "f32")))
    if case.sink:
        result.append(("sinks", memref(case.heads, "f32")))
    result.append(("out", query))
    if case.lse:
        result.append(("lse", memref(1, case.heads, case.rows, "f32")))
    return result


def table_text(case):
    """A table of cosines and sines, and views of its rows for queries and keys."""
    length = max(case.rows, case.keys)
    whole = memref(length, 2, case.pairs, "f32")
    view = lambda rows: memref(rows, 2, case.pairs, "f32") if rows == length else (
        f"memref<{rows}x2x{case.pairs}xf32, strided<[{2 * case.pairs}, {case.pairs}, 1]>>")
    lines = [f"%t = memref.alloc() {{alignment = 64 : i64}} : {whole}",
             f"rope.assemble ins(%cos, %sin : {memref(length, case.pairs, 'f32')}, "
             f"{memref(length, case.pairs, 'f32')}) outs(%t : {whole})"]
    for name, rows in (("tq", case.rows), ("tk", case.keys)):
        lines.append(f"%{name} = memref.subview %t[0, 0, 0] [{rows}, 2, {case.pairs}] [1, 1, 1] : "
                     f"{whole} to {view(rows)}")
    return lines, view(case.rows), view(case.keys)


def attention_text(case, query_table, key_table):
    types = dict(arguments(case))
    rotary = f"<{'interleaved' if case.interleaved else 'half'} along [2]>"
    parts = [f"rope.attention ins(%q, %k, %v : {types['q']}, {types['k']}, {types['v']})"]
    if case.mask:
        parts.append(f"mask(%mask : {types['mask']})")
    if case.sink:
        parts.append(f"sink(%sinks : {types['sinks']})")
    if case.turns:
        parts.append(f"rotate_query(%tq : {query_table}) {rotary} rotate_key(%tk : {key_table}) {rotary}")
    if case.op == "roper_attn":
        parts.append(f"rotate_value(%tk : {key_table}) {rotary} rerotate_output(%tq : {query_table}) {rotary}")
    inits = ["out", "lse"] if case.lse else ["out"]
    parts.append(f"outs({', '.join('%' + i for i in inits)} : {', '.join(types[i] for i in inits)})")
    parts.append(f"scale {case.channels ** -0.5!r}")
    if case.causal:
        parts.append("causal")
    if case.window is not None:
        parts.append(f"window [{case.window}, -1]")
    if case.softcap:
        parts.append(f"softcap {float(case.softcap):e}")
    if case.plan:
        parts.append(f"{{rope.plan = #rope.cpu_plan<{case.plan}>}}")
    return " ".join(parts)


def kernel_text(case):
    lines, tables = [], (None, None)
    if case.turns:
        lines, *tables = table_text(case)
    lines.append(attention_text(case, *tables))
    return kernel_of(case, lines)


def kernel_of(case, lines):
    """A function of these lines."""
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments(case))
    body = "\n  ".join(lines)
    return f"func.func @kernel({signature}) {{\n  {body}\n  return\n}}\n"


# ---- inputs and the reference

def to_bf16(x):
    """f32 to bits of the nearest bf16."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def encode(case, x):
    """As it lies in memory."""
    if case.dtype == "bf16":
        return to_bf16(x)
    return x.astype(np.float16 if case.dtype == "f16" else np.float32)


def decode(case, x):
    return (from_bf16(x) if case.dtype == "bf16" else x).astype(np.float64)


def aligned(array):
    """A copy at a cache line, as an allocator would give."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Data:
    """Arguments by name, as they lie in memory."""

    def __init__(self, case):
        self.case, random = case, np.random.default_rng(1)
        uniform = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
        arrays = dict(q=encode(case, case.amp * uniform(1, case.heads, case.rows, case.channels)),
                      k=encode(case, case.amp * uniform(1, case.groups, case.keys, case.channels)),
                      v=encode(case, uniform(1, case.groups, case.keys, case.channels)))
        angles = (np.arange(max(case.rows, case.keys))[:, None]
                  * THETA ** (-np.arange(case.pairs) / case.pairs))
        arrays.update(cos=np.cos(angles).astype(np.float32), sin=np.sin(angles).astype(np.float32))
        if case.mask == "keep":
            arrays["mask"] = random.random((case.rows, case.keys)) < 0.9
        elif case.mask == "add":
            arrays["mask"] = uniform(case.rows, case.keys)
        if case.sink:
            arrays["sinks"] = uniform(case.heads)
        arrays["out"] = np.zeros_like(arrays["q"])
        if case.lse:
            arrays["lse"] = np.zeros((1, case.heads, case.rows), np.float32)
        self.arrays = {name: aligned(array) for name, array in arrays.items()}
        self.result = None

    def _rotate(self, x, positions, sign=1):
        """Turns the last dim of x [..., rows, D] in f64."""
        case, y = self.case, x.copy()
        cos = self.arrays["cos"][positions].astype(np.float64)
        sin = sign * self.arrays["sin"][positions].astype(np.float64)
        turning = 2 * case.pairs
        first, second = ((slice(0, turning, 2), slice(1, turning, 2)) if case.interleaved
                         else (slice(0, case.pairs), slice(case.pairs, turning)))
        u, v = x[..., first], x[..., second]
        y[..., first], y[..., second] = u * cos - v * sin, v * cos + u * sin
        return y

    def _scores(self, head, rows):
        case = self.case
        q = decode(case, self.arrays["q"][0, head, rows])
        k = decode(case, self.arrays["k"][0, head * case.groups // case.heads])
        if case.turns:
            q, k = self._rotate(q, rows), self._rotate(k, np.arange(case.keys))
        scores = q @ k.T / np.sqrt(case.channels)
        if case.softcap:
            scores = case.softcap * np.tanh(scores / case.softcap)
        if case.mask == "add":
            scores = scores + self.arrays["mask"][rows]
        distance = rows[:, None] - np.arange(case.keys)
        hidden = np.zeros(scores.shape, bool)
        if case.causal:
            hidden |= distance < 0
        if case.window is not None:
            hidden |= distance > case.window
        if case.mask == "keep":
            hidden |= ~self.arrays["mask"][rows]
        return np.where(hidden, -np.inf, scores)

    def reference(self, head, rows):
        """Output and lse of rows of a head in f64."""
        case = self.case
        scores = self._scores(head, rows)
        if case.sink:
            sinks = np.full((len(rows), 1), self.arrays["sinks"][head])
            scores = np.concatenate([scores, sinks], -1)
        largest = scores.max(-1, keepdims=True)
        weights = np.exp(scores - largest)
        total = weights.sum(-1, keepdims=True)
        v = decode(case, self.arrays["v"][0, head * case.groups // case.heads])
        if case.op == "roper_attn":
            v = self._rotate(v, np.arange(case.keys))
        output = weights[:, :case.keys] @ v / total
        if case.op == "roper_attn":
            output = self._rotate(output, rows, -1)
        return output, (largest + np.log(total))[:, 0]

    def error(self):
        """Of the results in `arrays`, or of `result` [H, S, D], on some rows: the
        largest error over the largest output."""
        case, worst, largest = self.case, 0.0, 0.0
        rows = np.unique(np.linspace(0, case.rows - 1, 12).astype(int))
        for head in sorted({0, case.heads // 2, case.heads - 1}):
            output, lse = self.reference(head, rows)
            got = decode(case, self.arrays["out"][0, head, rows]) if self.result is None else self.result[head, rows]
            errors = [np.abs(got - output)]
            if case.lse:
                errors.append(np.abs(self.arrays["lse"][0, head, rows] - lse) / np.maximum(1, np.abs(lse)))
            worst = max([worst] + [np.nan_to_num(e, nan=np.inf).max() for e in errors])
            largest = max(largest, np.abs(output).max())
        return worst / largest


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(kernel_text(Case(sys.argv[1])), end="")
