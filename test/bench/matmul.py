"""Times compiled matrix products and row operations against the machine's limits.

    matmul.py [CASE...] [--rounds N] [--json FILE] [--keep DIR]

A case is an operation on f32 tensors, as frameworks write it, and its sizes:

    linear:MxNxK     x [M, K] by the transpose of a weight [N, K], as torch has it
    matmul:MxNxK     x [M, K] by a weight [K, N]
    rmsnorm:MxN softmax:MxN silu:MxN add:MxN    of rows of N; silu is of a gate, times another tensor

A ? before a size makes its type dynamic: linear:?512x8192x2048. `:avx2` at the
end compiles for AVX2. Cases are compiled by rope-compile (in PATH) and checked
against f64. In every round all cases run in turn, each right after its limit:
for products of more than 8 rows a loop of multiply-adds, for those of fewer a
loop that reads memory, for rows a copy of memory. What is printed is the share
of the limit: best over best, and the median of each call over the limit just
before it. See attention.py for what may be compared with what.
"""

import ctypes
import sys

import numpy as np

from cases import aligned
from harness import Kernel, compile_kernel, describe, run_cases

DEFAULT = """
linear:512x8192x2048 linear:512x2048x8192 linear:512x512x2048 matmul:512x8192x2048
linear:2048x8192x2048 linear:509x2048x2047 linear:509x1000x2047
linear:?512x8192x2048 linear:?509x?2048x?2047
linear:1x8192x2048 matmul:1x8192x2048 linear:4x8192x2048 linear:16x8192x2048
rmsnorm:4096x2048 softmax:4096x2048 silu:512x8192 add:4096x2048
""".split()

FEW_ROWS = 8


# ---- IR

def tensor(sizes):
    return "tensor<" + "x".join(map(str, sizes)) + "xf32>"


def product_text(transposed, m, n, k):
    """The sizes are as types have them."""
    left, weight, result = tensor([m, k]), tensor([n, k] if transposed else [k, n]), tensor([m, n])
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
        lines += [f"%e = tensor.empty{dims('k', 'n')} : {tensor([k, n])}",
                  f"%t = linalg.transpose ins(%w : {weight}) outs(%e : {tensor([k, n])}) permutation = [1, 0]"]
        panel = "%t"
    lines += [f"%o = tensor.empty{dims('m', 'n')} : {result}",
              f"%f = linalg.fill ins(%z : f32) outs(%o : {result}) -> {result}",
              f"%r = linalg.matmul ins(%x, {panel} : {left}, {tensor([k, n])}) outs(%f : {result}) -> {result}",
              f"return %r : {result}"]
    return f"func.func @kernel(%x: {left}, %w: {weight}) -> {result} {{\n  " + "\n  ".join(lines) + "\n}\n"


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
        fields = text.split(":")
        self.kind = "avx2" if fields[-1] == "avx2" else "native"
        self.op, sizes = fields[0], fields[1].split("x")
        if self.op not in ("linear", "matmul", "rmsnorm", "softmax", "silu", "add"):
            sys.exit(f"no such operation: {self.op!r} of case {text!r}")
        types = ["?" if s.startswith("?") else s for s in sizes]
        sizes = [int(s.lstrip("?")) for s in sizes]
        random = np.random.default_rng(1)
        normal = lambda *shape: aligned(random.standard_normal(shape, dtype=np.float32))
        if self.op in ("linear", "matmul"):
            m, n, k = sizes
            self.mlir = product_text(self.op == "linear", *types)
            self.arrays = [normal(m, k), normal(n, k) if self.op == "linear" else normal(k, n)]
            self.limit = "read" if m <= FEW_ROWS else self.kind
            self.work = 4 * (m * k + k * n + m * n) if m <= FEW_ROWS else 2 * m * n * k
        else:
            m, n = sizes
            self.mlir = rows_text(self.op, m, n)
            self.arrays = [normal(m, n)] + {"rmsnorm": [normal(n)], "softmax": []}.get(self.op, [normal(m, n)])
            self.limit, self.work = "copy", 4 * m * n * (2 if self.op in ("rmsnorm", "softmax") else 3)
        # Sums of k terms in f32, one after the other, round as often.
        self.bound = 1e-7 * k ** 0.5 if self.op in ("linear", "matmul") else 2e-6
        self.result = aligned(np.zeros((m, n), np.float32))

    def error(self):
        """Of some rows: the largest error over the largest result."""
        rows = np.unique(np.linspace(0, len(self.result) - 1, 12).astype(int))
        x = self.arrays[0][rows].astype(np.float64)
        w = self.arrays[1] if len(self.arrays) > 1 else None
        if self.op in ("silu", "add"):
            w = w[rows].astype(np.float64)
        expected = {"linear": lambda: x @ w.T, "matmul": lambda: x @ w,
                    "rmsnorm": lambda: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w,
                    "softmax": lambda: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
                    "silu": lambda: x / (1 + np.exp(-x)) * w, "add": lambda: x + w}[self.op]()
        difference = np.abs(self.result[rows] - expected)
        return np.nan_to_num(difference, nan=np.inf).max() / np.abs(expected).max()


def make_kernel(text, folder, number):
    case = Case(text)
    function, compile_seconds = compile_kernel(case.mlir, case.kind, folder, f"case{number}",
                                               "--pipeline-options=results-as-out-params")
    memory = [describe(a) for a in [*case.arrays, case.result]]
    call = lambda: function(*(ctypes.byref(m) for m in memory))
    kernel = Kernel(text, case.limit, case.work, call, compile_seconds)
    call()
    kernel.error, kernel.bound = case.error(), case.bound
    return kernel


if __name__ == "__main__":
    run_cases(__doc__, DEFAULT, make_kernel)
