"""Prints rope IR of one operation and case, for benchmarks that bring their own data.

    kernel_ir.py OP DTYPE MASK H K S N D > kernel.mlir

OP is attn, rope_attn, roper_attn, decode (attention of one query), rope (one
rotation), linear (linear attention of elu + 1, rotated, with a normaliser) or
layer; DTYPE f32 or bf16; MASK full or causal; then query heads, key-value heads,
queries, keys and channels. The function @kernel takes memrefs: those of cases.py
for attention, linear or not; x [1, H, S, D], cos and sin [S, D/2] in f32 and
out for rope; x [1, S, H*D], wq, wk, wv, wo, wg, wu, wd as [1, inputs, outputs],
cos, sin and out for a layer: RMS norm without weights, causal grouped attention,
RMS norm and a gated product of 4 times the width, both added to their input.
"""

import sys

from cases import Case, arguments, kernel_of, kernel_text, memref, table_text

MLP, EPS = 4, 1e-5


def rope_text(dtype, heads, rows, channels):
    x, plane = memref(1, heads, rows, channels, dtype), memref(rows, channels // 2, "f32")
    table = memref(rows, 2, channels // 2, "f32")
    return f"""func.func @kernel(%x: {x}, %cos: {plane}, %sin: {plane}, %out: {x}) {{
  %t = memref.alloc() : {table}
  rope.assemble ins(%cos, %sin : {plane}, {plane}) outs(%t : {table})
  rope.rotate <half along [2]> ins(%x, %t : {x}, {table}) outs(%out : {x})
  return
}}
"""


def linear_text(case):
    lines, query_table, key_table = table_text(case)
    types = dict(arguments(case))
    rotary = "<half along [2]>"
    lines.append(f"rope.linear_attention ins(%q, %k, %v : {types['q']}, {types['k']}, {types['v']}) "
                 f"rotate_query(%tq : {query_table}) {rotary} rotate_key(%tk : {key_table}) {rotary} "
                 f"outs(%out : {types['out']}) feature_map elu_plus_one {'causal ' if case.causal else ''}"
                 "normalizer_eps 1.0e-6")
    return kernel_of(case, lines)


class Layer:
    """Text of a decoder layer, value by value, on tensors."""

    def __init__(self, dtype, heads, groups, rows, channels):
        self.dtype, self.heads, self.groups, self.rows, self.channels = dtype, heads, groups, rows, channels
        self.width, self.lines, self.count = heads * channels, [], 0

    def tensor(self, *shape, dtype=None):
        return "tensor<" + "x".join(map(str, shape)) + f"x{dtype or self.dtype}>"

    def add(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def empty(self, *shape, dtype="f32"):
        return self.add(f"tensor.empty() : {self.tensor(*shape, dtype=dtype)}")

    def zeros(self, *shape):
        init, type = self.empty(*shape), self.tensor(*shape, dtype="f32")
        return self.add(f"linalg.fill ins(%zero : f32) outs({init} : {type}) -> {type}")

    def generic(self, inputs, init, body, maps=None, reduces=False):
        """Elementwise over rows and columns, or a sum of columns; inputs are (value, type)."""
        whole = "affine_map<(i, j) -> (i, j)>"
        row = "affine_map<(i, j) -> (i)>"
        maps = [row if m == "row" else whole for m in (maps or ["all"] * len(inputs))]
        maps.append(row if reduces else whole)
        values, types = zip(*inputs)
        kinds = '"parallel", "reduction"' if reduces else '"parallel", "parallel"'
        names = ", ".join(f"%a{i}: {t.split('x')[-1][:-1]}" for i, t in enumerate(types))
        element = init[1].split("x")[-1][:-1]
        return self.add(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
                        f"ins({', '.join(values)} : {', '.join(types)}) outs({init[0]} : {init[1]}) {{\n"
                        f"^bb0({names}, %o: {element}):\n{body}\n}} -> {init[1]}")

    def product(self, x, weight, inputs, outputs):
        """Rows times a weight, in f32, rounded once."""
        wide = self.tensor(self.rows, outputs, dtype="f32")
        y = self.add(f"linalg.matmul ins({x}, {weight} : {self.tensor(self.rows, inputs)}, "
                     f"{self.tensor(inputs, outputs)}) outs({self.zeros(self.rows, outputs)} : {wide}) -> {wide}")
        return y if self.dtype == "f32" else self.round(y, outputs)

    def round(self, x, columns):
        return self.generic([(x, self.tensor(self.rows, columns, dtype="f32"))],
                            (self.empty(self.rows, columns, dtype=self.dtype), self.tensor(self.rows, columns)),
                            f"%r = arith.truncf %a0 : f32 to {self.dtype}\nlinalg.yield %r : {self.dtype}")

    def widen(self, name, wide):
        return "" if self.dtype == "f32" else f"{wide} = arith.extf {name} : {self.dtype} to f32\n"

    def narrow(self, name):
        return f"linalg.yield {name} : f32" if self.dtype == "f32" else (
            f"%n = arith.truncf {name} : f32 to {self.dtype}\nlinalg.yield %n : {self.dtype}")

    def wide(self, name):
        return name if self.dtype == "f32" else f"%w{name[1:]}"

    def norm(self, x):
        type, a = self.tensor(self.rows, self.width), self.wide("%a0")
        squares = self.generic([(x, type)], (self.zeros(self.rows), self.tensor(self.rows, dtype="f32")),
                               self.widen("%a0", a) + f"%s = arith.mulf {a}, {a} : f32\n"
                               "%t = arith.addf %o, %s : f32\nlinalg.yield %t : f32", reduces=True)
        body = (f"%m = arith.divf %a1, %columns : f32\n%e = arith.addf %m, %eps : f32\n%r = math.rsqrt %e : f32\n"
                + self.widen("%a0", a) + f"%y = arith.mulf {a}, %r : f32\n" + self.narrow("%y"))
        return self.generic([(x, type), (squares, self.tensor(self.rows, dtype="f32"))],
                            (self.empty(self.rows, self.width, dtype=self.dtype), type), body, ["all", "row"])

    def combine(self, x, y, columns, body):
        type = self.tensor(self.rows, columns)
        a, b = self.wide("%a0"), self.wide("%a1")
        return self.generic([(x, type), (y, type)], (self.empty(self.rows, columns, dtype=self.dtype), type),
                            self.widen("%a0", a) + self.widen("%a1", b) + body.format(a=a, b=b) + self.narrow("%y"))

    def split_heads(self, x, heads):
        return self.add(f"tensor.expand_shape {x} [[0], [1, 2]] output_shape [{self.rows}, {heads}, {self.channels}] : "
                        f"{self.tensor(self.rows, heads * self.channels)} into {self.tensor(self.rows, heads, self.channels)}")

    def attention(self, q, k, v, table, table_type):
        query = self.tensor(self.rows, self.heads, self.channels)
        key = self.tensor(self.rows, self.groups, self.channels)
        init = self.empty(self.rows, self.heads, self.channels, dtype=self.dtype)
        out = self.add(f"rope.attention ins({q}, {k}, {v} : {query}, {key}, {key}) "
                       f"rotate_query({table} : {table_type}) <half along [0]> "
                       f"rotate_key({table} : {table_type}) <half along [0]> outs({init} : {query}) "
                       f"scale {self.channels ** -0.5!r} causal "
                       f'layout <query = "m(hg)d", key = "nhd", value = "nhe", output = "m(hg)e"> -> {query}')
        return self.add(f"tensor.collapse_shape {out} [[0], [1, 2]] : {query} into {self.tensor(self.rows, self.width)}")

    def body(self):
        width, groups = self.width, self.groups * self.channels
        sizes = dict(q=(width, width), k=(width, groups), v=(width, groups), o=(width, width), g=(width, MLP * width),
                     u=(width, MLP * width), d=(MLP * width, width))
        x, weights = self.open("x", self.rows, width), {}
        for name, size in sizes.items():
            weights[name] = self.open("w" + name, *size)
        half = self.channels // 2
        table_type = self.tensor(self.rows, 2, half, dtype="f32")
        plane = self.tensor(self.rows, half, dtype="f32")
        planes = [self.add(f"bufferization.to_tensor %{n} restrict : {memref(self.rows, half, 'f32')} to {plane}")
                  for n in ("cos", "sin")]
        table = self.add(f"rope.assemble ins({planes[0]}, {planes[1]} : {plane}, {plane}) "
                         f"outs({self.empty(self.rows, 2, half)} : {table_type}) -> {table_type}")
        n = self.norm(x)
        q, k, v = (self.product(n, weights[w], *sizes[w]) for w in "qkv")
        o = self.attention(self.split_heads(q, self.heads), self.split_heads(k, self.groups),
                           self.split_heads(v, self.groups), table, table_type)
        y = self.combine(x, self.product(o, weights["o"], *sizes["o"]), width, "%y = arith.addf {a}, {b} : f32\n")
        n = self.norm(y)
        gated = self.combine(self.product(n, weights["g"], *sizes["g"]), self.product(n, weights["u"], *sizes["u"]),
                             MLP * width, "%m = arith.negf {a} : f32\n%e = math.exp %m : f32\n"
                             "%p = arith.addf %e, %one : f32\n%q = arith.divf {a}, %p : f32\n%y = arith.mulf %q, {b} : f32\n")
        result = self.combine(y, self.product(gated, weights["d"], *sizes["d"]), width, "%y = arith.addf {a}, {b} : f32\n")
        type = self.tensor(self.rows, width)
        self.lines.append(f"bufferization.materialize_in_destination {result} in restrict writable %out0 : "
                          f"({type}, {memref(self.rows, width, self.dtype)}) -> ()")
        return sizes

    def open(self, name, *shape):
        whole, flat = memref(1, *shape, self.dtype), memref(*shape, self.dtype)
        self.lines.append(f"%{name}0 = memref.collapse_shape %{name} [[0, 1], [2]] : {whole} into {flat}")
        return self.add(f"bufferization.to_tensor %{name}0 restrict : {flat} to {self.tensor(*shape)}")

    def text(self):
        width, rows = self.width, self.rows
        self.lines.append(f"%out0 = memref.collapse_shape %out [[0, 1], [2]] : {memref(1, rows, width, self.dtype)} "
                          f"into {memref(rows, width, self.dtype)}")
        sizes = self.body()
        constants = [f"%{n} = arith.constant {value:e} : f32"
                     for n, value in (("zero", 0.0), ("one", 1.0), ("columns", float(width)), ("eps", EPS))]
        plane = memref(rows, self.channels // 2, "f32")
        arguments = [("x", memref(1, rows, width, self.dtype))]
        arguments += [("w" + n, memref(1, *size, self.dtype)) for n, size in sizes.items()]
        arguments += [("cos", plane), ("sin", plane), ("out", memref(1, rows, width, self.dtype))]
        signature = ", ".join(f"%{n}: {t}" for n, t in arguments)
        return f"func.func @kernel({signature}) {{\n  " + "\n  ".join(constants + self.lines) + "\n  return\n}\n"


def main():
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    op, dtype, mask = sys.argv[1:4]
    heads, groups, rows, keys, channels = map(int, sys.argv[4:])
    if op == "rope":
        print(rope_text(dtype, heads, rows, channels), end="")
    elif op == "layer":
        print(Layer(dtype, heads, groups, rows, channels).text(), end="")
    else:
        write = linear_text if op == "linear" else kernel_text
        op = {"decode": "attn", "linear": "rope_attn"}.get(op, op)
        print(write(Case(f"{op}:{dtype}:{mask}:H{heads}:K{groups}:S{rows}:N{keys}:D{channels}")), end="")


if __name__ == "__main__":
    main()
