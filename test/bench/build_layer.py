"""Compiles a decoder layer, for benchmarks that bring their own data.

    build_layer.py DTYPE H K S D OUT.so      # rope-compile and cc in PATH

DTYPE is f32 or bf16; then query heads, key-value heads, rows and channels. The
layer is RMS norm without weights, causal grouped attention with rotary
embedding, RMS norm and a gated product of 4 times the width, both added to their
input. The function @kernel takes memrefs: x [1, S, H*D], wq, wk, wv, wo, wg, wu,
wd as [1, inputs, outputs], cos and sin [S, D/2] in f32, and out. The first call
packs the weights that are whole panels, as other libraries do when they compile a
model; later ones do not read those. Beside OUT.so are left what it was made from, and
a header of its parts; to call is _mlir_ciface_kernel.
"""

import re
import subprocess
import sys

from cases import memref

MLP, EPS = 4, 1e-5
OPTIONS = "--pipeline-options=relaxed-bf16 keep-memory pack-weights results-as-out-params"


def with_batch(flat):
    """The type with a leading dim of 1."""
    return flat.replace("memref<", "memref<1x")


def pack_once(names, flat, packed):
    """Lines that pack weights unless that is done."""
    operands = ", ".join([*(f"%w{n}0" for n in names), *(f"%p{n}" for n in names)])
    types = ", ".join([*(flat[n] for n in names), *(packed[n] for n in names)])
    return ["%flag = memref.get_global @is_packed : memref<i1>", "%done = memref.load %flag[] : memref<i1>",
            "%yes = arith.constant true", "%open = arith.xori %done, %yes : i1", "scf.if %open {",
            "memref.store %yes, %flag[] : memref<i1>",
            f"func.call @pack_weights_of_layer({operands}) : ({types}) -> ()", "}"]


class Layer:
    """Text of a decoder layer, value by value, on tensors."""

    def __init__(self, dtype, heads, groups, rows, channels):
        self.dtype, self.heads, self.groups, self.rows, self.channels = dtype, heads, groups, rows, channels
        self.width, self.lines, self.count = heads * channels, [], 0
        inner, width = MLP * self.width, self.width
        self.sizes = dict(q=(width, width), k=(width, groups * channels), v=(width, groups * channels),
                          o=(width, width), g=(width, inner), u=(width, inner), d=(inner, width))

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
        sizes, table_type = self.sizes, self.tensor(self.rows, 2, self.channels // 2, dtype="f32")
        plane = self.tensor(self.rows, self.channels // 2, dtype="f32")
        table = self.add(f"rope.assemble ins(%cos, %sin : {plane}, {plane}) "
                         f"outs({self.empty(self.rows, 2, self.channels // 2)} : {table_type}) -> {table_type}")
        n = self.norm("%x")
        q, k, v = (self.product(n, "%w" + w, *sizes[w]) for w in "qkv")
        o = self.attention(self.split_heads(q, self.heads), self.split_heads(k, self.groups),
                           self.split_heads(v, self.groups), table, table_type)
        y = self.combine("%x", self.product(o, "%wo", *sizes["o"]), self.width, "%y = arith.addf {a}, {b} : f32\n")
        n = self.norm(y)
        gated = self.combine(self.product(n, "%wg", *sizes["g"]), self.product(n, "%wu", *sizes["u"]),
                             MLP * self.width, "%m = arith.negf {a} : f32\n%e = math.exp %m : f32\n"
                             "%p = arith.addf %e, %one : f32\n%q = arith.divf {a}, %p : f32\n%y = arith.mulf %q, {b} : f32\n")
        return self.combine(y, self.product(gated, "%wd", *sizes["d"]), self.width, "%y = arith.addf {a}, {b} : f32\n")

    def text(self):
        result = self.body()
        constants = [f"%{n} = arith.constant {value:e} : f32"
                     for n, value in (("zero", 0.0), ("one", 1.0), ("columns", float(self.width)), ("eps", EPS))]
        x, plane = self.tensor(self.rows, self.width), self.tensor(self.rows, self.channels // 2, dtype="f32")
        arguments = [f"%x: {x}", *(f"%w{n}: {self.tensor(*size)} {{rope.weight}}" for n, size in self.sizes.items()),
                     f"%cos: {plane}", f"%sin: {plane}"]
        lines = "\n  ".join([*constants, *self.lines, f"return {result} : {x}"])
        return f"func.func @layer({', '.join(arguments)}) -> {x} {{\n  {lines}\n}}\n"

    def entry_text(self, packed):
        """@kernel, whose first call packs the weights; `packed` are their types
        then, as memrefs."""
        x = memref(self.rows, self.width, self.dtype)
        plane = memref(self.rows, self.channels // 2, "f32")
        flat = {n: memref(*size, self.dtype) for n, size in self.sizes.items()}
        changed = [n for n in self.sizes if packed[n] != flat[n]]
        arguments = [f"%x: {with_batch(x)}", *(f"%w{n}: {with_batch(t)}" for n, t in flat.items()),
                     f"%cos: {plane}", f"%sin: {plane}", f"%out: {with_batch(x)}"]
        lines = [f"%{n}0 = memref.collapse_shape %{n} [[0, 1], [2]] : {with_batch(t)} into {t}"
                 for n, t in [("x", x), ("out", x), *(("w" + n, t) for n, t in flat.items())]]
        lines += [f"%p{n} = memref.get_global @packed_{n} : {packed[n]}" for n in changed]
        lines += pack_once(changed, flat, packed) if changed else []
        weights = [f"%p{n}" if n in changed else f"%w{n}0" for n in self.sizes]
        layer = ", ".join([x, *packed.values(), plane, plane, x])
        lines.append(f"func.call @layer(%x0, {', '.join(weights)}, %cos, %sin, %out0) : ({layer}) -> ()")
        exported, pack = "attributes {llvm.emit_c_interface}", [*(flat[n] for n in changed), *(packed[n] for n in changed)]
        top = ['memref.global "private" @is_packed : memref<i1> = dense<false>',
               *(f'memref.global "private" @packed_{n} : {packed[n]} = uninitialized {{alignment = 64}}' for n in changed),
               f"func.func private @layer({layer}) {exported}",
               f"func.func private @pack_weights_of_layer({', '.join(pack)}) {exported}"]
        body = "\n  ".join([*lines, "return"])
        return "\n".join(top) + f"\nfunc.func @kernel({', '.join(arguments)}) {{\n  {body}\n}}\n"


def read_types(header):
    """Of the weights of @layer, from the comment on it."""
    with open(header) as file:
        signature = re.search(r"\* layer\((.*?)\) ->", file.read())
    if not signature:
        sys.exit(f"{header} does not say what @layer takes")
    signature = signature[1]
    return [t.replace("tensor", "memref") for t in re.findall(r"tensor<[^>]*>", signature)[1:8]]


def run(*command):
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))


def compile_text(text, path, *flags):
    with open(path + ".mlir", "w") as file:
        file.write(text)
    run("rope-compile", path + ".mlir", "-o", path + ".o", "--target-cpu=native", *flags)
    return path + ".o"


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    dtype, path = sys.argv[1], sys.argv[6].removesuffix(".so")
    sizes = [int(n) if n.isdigit() else 0 for n in sys.argv[2:6]]
    if dtype not in ("f32", "bf16") or not all(sizes) or sizes[0] % sizes[1] or sizes[3] % 2:
        sys.exit(__doc__)
    layer = Layer(dtype, *sizes)
    objects = [compile_text(layer.text(), path + "-layer", OPTIONS, f"--header={path}.h")]
    packed = dict(zip(layer.sizes, read_types(path + ".h")))
    objects.append(compile_text(layer.entry_text(packed), path + "-entry"))
    run("cc", "-shared", *objects, "-o", path + ".so")


if __name__ == "__main__":
    main()
