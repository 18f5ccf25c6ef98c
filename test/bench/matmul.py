"""Times compiled matrix products and row operations against the machine's limits.

    matmul.py [CASE...] [--rounds N] [--json FILE] [--keep DIR]

A case is an operation on tensors, as frameworks write it, and its sizes:

    linear:MxNxK     x [M, K] by the transpose of a weight [N, K], as torch has it
    matmul:MxNxK     x [M, K] by a weight [K, N]
    rmsnorm:MxN softmax:MxN silu:MxN add:MxN    of rows of N; silu is of a gate, times another tensor

A ? before a size makes its type dynamic: linear:?512x8192x2048. Tensors are f32;
with `:bf16` at the end those of a product are bf16, and its sums, which are rounded
once, f32. With `:once` the weight is packed before (`pack-weights`). `:avx2` compiles
for AVX2. Cases are compiled by rope-compile (in PATH) and checked
against f64. In every round all cases run in turn, each right after its limit:
for products of more than 8 rows a loop of multiply-adds of their type, for those of fewer a
loop that reads memory, for rows a copy of memory. What is printed is the share
of the limit: best over best, and the median of each call over the limit just
before it. See attention.py for what may be compared with what.
"""

import ctypes
import re
import sys

import numpy as np

from cases import aligned, from_bf16, to_bf16
from harness import Kernel, compile_library, describe, run_cases

DEFAULT = """
linear:512x8192x2048 linear:512x2048x8192 linear:512x512x2048 matmul:512x8192x2048
linear:2048x8192x2048 linear:509x2048x2047 linear:509x1000x2047
linear:?512x8192x2048 linear:?509x?2048x?2047
linear:1x8192x2048 matmul:1x8192x2048 linear:4x8192x2048 linear:16x8192x2048
linear:512x8192x2048:bf16 linear:512x2048x8192:bf16 matmul:512x8192x2048:bf16
linear:509x2048x2047:bf16 linear:?509x?2048x?2047:bf16
linear:1x8192x2048:bf16 matmul:1x8192x2048:bf16 linear:4x8192x2048:bf16 linear:16x8192x2048:bf16
linear:512x8192x2048:once linear:512x8192x2048:bf16:once linear:1x8192x2048:once linear:1x8192x2048:bf16:once
rmsnorm:4096x2048 softmax:4096x2048 silu:512x8192 add:4096x2048
""".split()

FEW_ROWS = 8


# ---- IR

def tensor(sizes, dtype="f32"):
    return "tensor<" + "x".join(map(str, [*sizes, dtype])) + ">"


def product_text(transposed, dtype, m, n, k, declaration=""):
    """The sizes are as types have them. `declaration` is one of the weight."""
    left, weight = tensor([m, k], dtype), tensor([n, k] if transposed else [k, n], dtype)
    sums, result, turned = tensor([m, n]), tensor([m, n], dtype), tensor([k, n], dtype)
    lines = ["%z = arith.constant 0.0 : f32", "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    size = {}
    for name, source, axis, text in (("m", "x", 0, m), ("n", "w", 0 if transposed else 1, n), ("k", "x", 1, k)):
        size[name] = ""
        if text == "?":
            lines.append(f"%{name} = tensor.dim %{source}, %c{axis} : {left if source == 'x' else weight}")
            size[name] = f"%{name}"
    dims = lambda *names: "(" + ", ".join(size[x] for x in names if size[x]) + ")"
    panel = "%w"
    if transposed:
        lines += [f"%e = tensor.empty{dims('k', 'n')} : {turned}",
                  f"%t = linalg.transpose ins(%w : {weight}) outs(%e : {turned}) permutation = [1, 0]"]
        panel = "%t"
    lines += [f"%o = tensor.empty{dims('m', 'n')} : {sums}",
              f"%f = linalg.fill ins(%z : f32) outs(%o : {sums}) -> {sums}",
              f"%r = linalg.matmul ins(%x, {panel} : {left}, {turned}) outs(%f : {sums}) -> {sums}"]
    value = "%r"
    if dtype != "f32":
        maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 2)
        lines += [f"%g = tensor.empty{dims('m', 'n')} : {result}",
                  f"%h = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\"]}}"
                  f" ins(%r : {sums}) outs(%g : {result}) {{\n  ^bb0(%a: f32, %b: {dtype}):\n"
                  f"    %y = arith.truncf %a : f32 to {dtype}\n    linalg.yield %y : {dtype}\n  }} -> {result}"]
        value = "%h"
    lines.append(f"return {value} : {result}")
    return f"func.func @kernel(%x: {left}, %w: {weight}{declaration}) -> {result} {{\n  " + "\n  ".join(lines) + "\n}\n"


class Rows:
    """Writes a function on rows, one small op after the other as importers do."""

    def __init__(self, m, n):
        self.whole, self.row, self.lines, self.count = tensor([m, n]), tensor([m, 1]), [], 0

    def _emit(self, kind, target, args, maps, body, init=None):
        self.count += 1
        i = self.count
        out = f"%e{i}"
        self.lines.append(f"{out} = tensor.empty() : {target}")
        if init is not None:
            self.lines += [f"%s{i} = arith.constant {init} : f32",
                           f"%f{i} = linalg.fill ins(%s{i} : f32) outs({out} : {target}) -> {target}"]
            out = f"%f{i}"
        names = ", ".join(f"%a{j}: f32" for j in range(len(args)))
        self.lines.append(
            f"%v{i} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [\"parallel\", \"{kind}\"]}}"
            f" ins({', '.join(a for a, _ in args)} : {', '.join(t for _, t in args)}) outs({out} : {target}) {{\n"
            f"  ^bb0({names}, %o: f32):\n    {body}\n    linalg.yield %y : f32\n  }} -> {target}")
        return f"%v{i}", target

    def map(self, body, *args):
        target = self.whole if any(t == self.whole for _, t in args) else self.row
        maps = {self.whole: "#id", self.row: "#id" if target == self.row else "#first"}
        return self._emit("parallel", target, args, [maps.get(t, "#last") for _, t in args] + ["#id"], body)

    def reduce(self, body, init, arg):
        return self._emit("reduction", self.row, [arg], ["#id", "#first"], body, init)

    def function(self, arguments, result):
        maps = ("#id = affine_map<(i, j) -> (i, j)>\n#first = affine_map<(i, j) -> (i, 0)>\n"
                "#last = affine_map<(i, j) -> (j)>\n")
        signature = ", ".join(f"{name}: {type}" for name, type in arguments)
        body = "\n  ".join(self.lines)
        return f"{maps}func.func @kernel({signature}) -> {result[1]} {{\n  {body}\n  return {result[0]} : {result[1]}\n}}\n"


def rows_text(op, m, n):
    rows = Rows(m, n)
    x, other, weight = ("%x", rows.whole), ("%w", rows.whole), ("%w", tensor([n]))
    if op == "add":
        return rows.function([x, other], rows.map("%y = arith.addf %a0, %a1 : f32", x, other))
    if op == "silu":
        exp = rows.map("%b = arith.negf %a0 : f32\n    %y = math.exp %b : f32", x)
        gate = rows.map("%c = arith.constant 1.0 : f32\n    %b = arith.addf %a0, %c : f32\n"
                        "    %y = arith.divf %a1, %b : f32", exp, x)
        return rows.function([x, other], rows.map("%y = arith.mulf %a0, %a1 : f32", gate, other))
    if op == "rmsnorm":
        square = rows.map("%y = arith.mulf %a0, %a0 : f32", x)
        total = rows.reduce("%y = arith.addf %a0, %o : f32", "0.0", square)
        scale = rows.map(f"%n = arith.constant {float(n)} : f32\n    %c = arith.constant 1.0e-6 : f32\n"
                         "    %b = arith.divf %a0, %n : f32\n    %d = arith.addf %b, %c : f32\n"
                         "    %y = math.rsqrt %d : f32", total)
        scaled = rows.map("%y = arith.mulf %a0, %a1 : f32", x, scale)
        return rows.function([x, weight], rows.map("%y = arith.mulf %a0, %a1 : f32", scaled, weight))
    largest = rows.reduce("%y = arith.maximumf %a0, %o : f32", "0xFF800000", x)
    exp = rows.map("%b = arith.subf %a0, %a1 : f32\n    %y = math.exp %b : f32", x, largest)
    total = rows.reduce("%y = arith.addf %a0, %o : f32", "0.0", exp)
    return rows.function([x], rows.map("%y = arith.divf %a0, %a1 : f32", exp, total))


# ---- cases

class Case:
    """What to compile, to call it with, and to expect."""

    def __init__(self, text):
        self.text = text
        size, flag = r"\??[1-9]\d*", "(:(bf16|once|avx2))*"
        if not re.fullmatch(rf"(linear|matmul):{size}x{size}x{size}{flag}|(?!linear|matmul)\w+:{size}x{size}(:avx2)?", text):
            sys.exit(f"case {text!r} is not OPERATION:SIZES and flags: see --help")
        self.op, sizes, *flags = text.split(":")
        self.kind = "avx2" if "avx2" in flags else "native"
        self.dtype, self.once = "bf16" if "bf16" in flags else "f32", "once" in flags
        sizes = sizes.split("x")
        if self.op not in ("linear", "matmul", "rmsnorm", "softmax", "silu", "add"):
            sys.exit(f"no such operation: {self.op!r} of case {text!r}")
        types = ["?" if s.startswith("?") else s for s in sizes]
        sizes = [int(s.lstrip("?")) for s in sizes]
        self.random = np.random.default_rng(1)
        if self.op in ("linear", "matmul"):
            self._make_product(types, *sizes)
        else:
            self._make_rows(*sizes)

    def _draw(self, *shape):
        values = self.random.standard_normal(shape, dtype=np.float32)
        return aligned(to_bf16(values) if self.dtype == "bf16" else values)

    def _make_product(self, types, m, n, k):
        self.mlir = product_text(self.op == "linear", self.dtype, *types, " {rope.weight}" if self.once else "")
        weight = (n, k) if self.op == "linear" else (k, n)
        self.arrays = [self._draw(m, k), self._draw(*weight)]
        self.result = aligned(np.zeros((m, n), self.arrays[0].dtype))
        self.limit, self.work = "dots" if self.dtype == "bf16" else self.kind, 2 * m * n * k
        if m <= FEW_ROWS:
            self.limit, self.work = "read", sum(a.nbytes for a in [*self.arrays, self.result])
        # Sums of k terms in f32, one after the other, round as often.
        self.bound = 1e-7 * k ** 0.5 + (2 ** -8 if self.dtype == "bf16" else 0)

    def _make_rows(self, m, n):
        self.mlir = rows_text(self.op, m, n)
        self.arrays = [self._draw(m, n)] + {"rmsnorm": [self._draw(n)], "softmax": []}.get(self.op, [self._draw(m, n)])
        self.result = aligned(np.zeros((m, n), np.float32))
        self.limit, self.work = "copy", 4 * m * n * (2 if self.op in ("rmsnorm", "softmax") else 3)
        self.bound = 2e-6

    def _read(self, array):
        return (from_bf16(array) if self.dtype == "bf16" else array).astype(np.float64)

    def error(self):
        """Of some rows: the largest error over the largest result."""
        rows = np.unique(np.linspace(0, len(self.result) - 1, 12).astype(int))
        x = self._read(self.arrays[0][rows])
        w = self.arrays[1] if len(self.arrays) > 1 else None
        if self.op in ("silu", "add"):
            w = w[rows].astype(np.float64)
        if self.op in ("linear", "matmul"):
            w = self._read(w)
        expected = {"linear": lambda: x @ w.T, "matmul": lambda: x @ w,
                    "rmsnorm": lambda: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w,
                    "softmax": lambda: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
                    "silu": lambda: x / (1 + np.exp(-x)) * w, "add": lambda: x + w}[self.op]()
        difference = np.abs(self._read(self.result[rows]) - expected)
        return np.nan_to_num(difference, nan=np.inf).max() / np.abs(expected).max()


def pack(library, case):
    """The weight in panels [N / 64, K, 64], or of bf16 [N / 64, K / 2, 64, 2]."""
    weight = case.arrays[1]
    width = 64 if case.kind == "native" else 16
    lanes, steps = weight.shape if case.op == "linear" else weight.shape[::-1]
    shape = (lanes // width, steps // 2, width, 2) if case.dtype == "bf16" else (lanes // width, steps, width)
    packed = aligned(np.zeros(shape, weight.dtype))
    library._mlir_ciface_pack_weights_of_kernel(*(ctypes.byref(describe(a)) for a in (weight, packed)))
    return packed


def make_kernel(text, folder, number):
    case = Case(text)
    options = "results-as-out-params" + (" pack-weights" if case.once else "")
    library, compile_seconds = compile_library(case.mlir, case.kind, folder, f"case{number}",
                                               f"--pipeline-options={options}")
    inputs = list(case.arrays)
    if case.once and not hasattr(library, "_mlir_ciface_pack_weights_of_kernel"):
        sys.exit(f"{text}: the weight is not packed, see the remark")
    if case.once:
        inputs[1] = pack(library, case)
    memory = [describe(a) for a in [*inputs, case.result]]
    call = lambda: library._mlir_ciface_kernel(*(ctypes.byref(m) for m in memory))
    kernel = Kernel(text, case.limit, case.work, call, compile_seconds)
    call()
    kernel.error, kernel.bound = case.error(), case.bound
    return kernel


if __name__ == "__main__":
    run_cases(__doc__, DEFAULT, make_kernel)
