"""Functions of upstream IR whose every step is spelled in one of several ways.

A `Function` builds text. What it is asked for is a meaning (add these, take
that half); how that is written (a named op, an arith op on tensors, a generic
op; concat or insert_slice; a transpose before or a map) is drawn from its
generator of random numbers. `choices` collects the names of what was drawn.
"""

import itertools


class Extent(str):
    """A dynamic extent, by the name of its index."""


class Value:
    """An SSA name with its shape (numbers and extents) and element type."""

    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        dims = "".join(f"{'?' if isinstance(n, Extent) else n}x" for n in self.shape)
        return f"tensor<{dims}{self.element}>"


class Function:
    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.arguments, self.lines, self.choices = [], [], set()
        self._numbers = itertools.count()
        self._constants = {}

    #---- Drawing ----------------------------------------------------------

    def draw(self, what, options):
        """One of `options`; remembers what was drawn."""
        option = options[self.rng.integers(len(options))]
        self.choices.add(f"{what}: {option}")
        return option

    def chance(self, what, share=0.5):
        return self.draw(what, (["yes"] * round(share * 20) + ["no"] * 20)[:20]) == "yes"

    #---- Text -------------------------------------------------------------

    def fresh(self):
        return f"%v{next(self._numbers)}"

    def argument(self, shape, element="f32"):
        """An argument; each dynamic dim (None, or an extent that another value
        has) gets an extent of its own."""
        value = Value(f"%arg{len(self.arguments)}", shape, element)
        static = [isinstance(n, int) for n in shape]
        extents = [n if known else Extent(self.fresh()) for n, known in zip(shape, static)]
        value.shape = tuple(extents)
        self.arguments.append(value)
        for i, extent in enumerate(extents):
            if not static[i]:
                self.emit(f"{extent} = tensor.dim {value.name}, {self.index(i)} : {value.type}")
        return value

    def emit(self, line):
        self.lines.append(line)

    def op(self, text, shape, element):
        value = Value(self.fresh(), shape, element)
        self.emit(f"{value.name} = {text}")
        return value

    def index(self, number):
        return self.scalar(f"{number} : index")

    def scalar(self, text):
        """A constant such as "1.0 : f32"."""
        if text not in self._constants:
            self._constants[text] = f"%c{len(self._constants)}"
        return self._constants[text]

    def text(self, results):
        arguments = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        types = ", ".join(r.type for r in results)
        constants = [f"{name} = arith.constant {text}" for text, name in self._constants.items()]
        names = ", ".join(r.name for r in results)
        body = "\n  ".join(constants + self.lines + [f"return {names} : {types}"])
        return f"func.func @{self.name}({arguments}) -> ({types}) {{\n  {body}\n}}\n"

    #---- Shapes -----------------------------------------------------------

    def empty(self, shape, element):
        value = Value("", shape, element)
        return self.op(f"tensor.empty({self.sizes(shape)}) : {value.type}", shape, element)

    def sizes(self, shape):
        """The dynamic ones, as ops that create tensors take them."""
        return ", ".join(n for n in shape if isinstance(n, Extent))

    def generic(self, inputs, shape, element, body, reduced=(), init=None):
        """`inputs` are (value, dims); `body` maps names of elements to lines and
        the name of what is yielded; `reduced` are the loops after `shape`."""
        loops = [f"d{i}" for i in range(len(shape) + len(reduced))]
        out = init or self.empty(shape, element)

        def affine(dims):
            exprs = ", ".join("0" if d is None else loops[d] for d in dims)
            return f"affine_map<({', '.join(loops)}) -> ({exprs})>"

        maps = [affine(dims) for _, dims in inputs] + [affine(range(len(shape)))]
        kinds = ['"parallel"'] * len(shape) + ['"reduction"'] * len(reduced)
        names = [self.fresh() for _ in inputs] + [self.fresh()]
        lines, result = body(names)
        args = ", ".join(
            f"{n}: {v.element}" for n, v in zip(names, [v for v, _ in inputs] + [out])
        )
        operands = ""
        if inputs:
            values = ", ".join(v.name for v, _ in inputs)
            operands = f" ins({values} : {', '.join(v.type for v, _ in inputs)})"
        text = (
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{', '.join(kinds)}]}}{operands} "
            f"outs({out.name} : {out.type}) {{\n  ^bb0({args}):\n    "
            + "\n    ".join(lines + [f"linalg.yield {result} : {element}"])
            + f"\n  }} -> {out.type}"
        )
        return self.op(text, shape, element)

    def transpose(self, value, perm):
        shape = [value.shape[p] for p in perm]
        if self.draw("transpose", ["named", "generic"]) == "named":
            out = self.empty(shape, value.element)
            return self.op(
                f"linalg.transpose ins({value.name} : {value.type}) "
                f"outs({out.name} : {out.type}) permutation = {list(perm)}",
                shape, value.element)
        inverse = [list(perm).index(i) for i in range(len(perm))]
        return self.generic([(value, inverse)], shape, value.element, lambda e: ([], e[0]))

    def slice(self, value, dim, offset, size, stride=1):
        shape = list(value.shape)
        offsets, strides = [0] * len(shape), [1] * len(shape)
        offsets[dim], shape[dim], strides[dim] = offset, size, stride
        sizes = ", ".join(str(n) for n in shape)
        result = Value("", shape, value.element)
        return self.op(
            f"tensor.extract_slice {value.name}{offsets} [{sizes}] {strides} "
            f": {value.type} to {result.type}", shape, value.element)

    def insert(self, part, whole, dim, offset, stride=1):
        offsets, strides = [0] * len(whole.shape), [1] * len(whole.shape)
        offsets[dim], strides[dim] = offset, stride
        sizes = ", ".join(str(n) for n in part.shape)
        return self.op(
            f"tensor.insert_slice {part.name} into {whole.name}{offsets} [{sizes}] "
            f"{strides} : {part.type} into {whole.type}", whole.shape, whole.element)

    def concat(self, parts, dim):
        shape = list(parts[0].shape)
        shape[dim] = sum(p.shape[dim] for p in parts)
        element = parts[0].element
        if self.draw("concat", ["concat", "insert_slice"]) == "concat":
            result = Value("", shape, element)
            names = ", ".join(p.name for p in parts)
            types = ", ".join(p.type for p in parts)
            return self.op(f"tensor.concat dim({dim}) {names} : ({types}) -> {result.type}",
                           shape, element)
        whole, offset = self.empty(shape, element), 0
        for part in parts:
            whole = self.insert(part, whole, dim, offset)
            offset += part.shape[dim]
        return whole

    def _reassociation(self, ranks):
        at, groups = 0, []
        for rank in ranks:
            groups.append(list(range(at, at + rank)))
            at += rank
        return groups

    def expand(self, value, dim, inner):
        """Splits `dim` into two, of which `inner` has that extent."""
        shape = list(value.shape)
        shape[dim:dim + 1] = [shape[dim] // inner, inner]
        groups = self._reassociation([2 if i == dim else 1 for i in range(len(value.shape))])
        sizes = ", ".join(str(n) for n in shape)
        result = Value("", shape, value.element)
        return self.op(
            f"tensor.expand_shape {value.name} {groups} output_shape [{sizes}] "
            f": {value.type} into {result.type}", shape, value.element)

    def unit(self, value, dim):
        """Puts a dim of extent 1 before `dim`."""
        shape = list(value.shape)
        shape.insert(dim, 1)
        joined = min(dim, len(value.shape) - 1)
        groups = self._reassociation([2 if i == joined else 1 for i in range(len(value.shape))])
        sizes = ", ".join(str(n) for n in shape)
        result = Value("", shape, value.element)
        return self.op(
            f"tensor.expand_shape {value.name} {groups} output_shape [{sizes}] "
            f": {value.type} into {result.type}", shape, value.element)

    def collapse(self, value, dim):
        """Joins `dim` with the next."""
        shape = list(value.shape)
        outer, inner = shape[dim:dim + 2]
        shape[dim:dim + 2] = [inner if outer == 1 else outer if inner == 1 else outer * inner]
        groups = self._reassociation([2 if i == dim else 1 for i in range(len(shape))])
        result = Value("", shape, value.element)
        return self.op(
            f"tensor.collapse_shape {value.name} {groups} : {value.type} into {result.type}",
            shape, value.element)

    def broadcast(self, value, dims, shape):
        """The value with its dims at `dims` of `shape`."""
        if list(dims) == list(range(len(shape))):
            return value
        if self.draw("broadcast", ["named", "generic"]) == "named":
            out = self.empty(shape, value.element)
            added = [i for i in range(len(shape)) if i not in dims]
            return self.op(
                f"linalg.broadcast ins({value.name} : {value.type}) "
                f"outs({out.name} : {out.type}) dimensions = {added}", shape, value.element)
        return self.generic([(value, dims)], shape, value.element, lambda e: ([], e[0]))

    #---- Elements ---------------------------------------------------------

    def _expand_operands(self, operands, shape):
        return [self.broadcast(v, dims, shape) for v, dims in operands]

    def elementwise(self, op, operands, shape=None):
        """arith or math `op`, such as "arith.mulf", on (value, dims) operands."""
        shape = operands[0][0].shape if shape is None else shape
        element = operands[0][0].element
        named = {"arith.mulf": "mul", "arith.addf": "add", "arith.subf": "sub",
                 "arith.negf": "negf", "arith.divf": "div", "math.exp": "exp"}
        style = self.draw("elementwise", ["generic", "tensors", "named"])
        if style == "generic" or (style == "named" and op not in named):
            def body(names):
                result = self.fresh()
                args = ", ".join(names[:len(operands)])
                return [f"{result} = {op} {args} : {element}"], result
            return self.generic(operands, shape, element, body)
        values = self._expand_operands(operands, shape)
        names = ", ".join(v.name for v in values)
        if style == "tensors":
            return self.op(f"{op} {names} : {values[0].type}", shape, element)
        out = self.empty(shape, element)
        return self.op(
            f"linalg.{named[op]} ins({names} : {', '.join(v.type for v in values)}) "
            f"outs({out.name} : {out.type}) -> {out.type}", shape, element)

    def whole(self, value):
        return (value, list(range(len(value.shape))))

    def map(self, op, value):
        return self.elementwise(op, [self.whole(value)])

    def scale(self, value, number):
        """The value times a number."""
        text = f"{number!r} : {value.element}"

        def body(names):
            result = self.fresh()
            pair = [names[0], self.scalar(text)]
            if self.draw("order of a product", ["ab", "ba"]) == "ba":
                pair.reverse()
            return [f"{result} = arith.mulf {', '.join(pair)} : {value.element}"], result
        if self.draw("scale", ["generic", "tensor"]) == "generic":
            return self.generic([self.whole(value)], value.shape, value.element, body)
        splat = self.op(
            f"tensor.splat {self.scalar(text)}"
            + (f"[{self.sizes(value.shape)}]" if self.sizes(value.shape) else "")
            + f" : {value.type}", value.shape, value.element)
        return self.mul(self.whole(value), self.whole(splat), value.shape)

    def commute(self, what, operands):
        return operands[::-1] if self.draw(what, ["ab", "ba"]) == "ba" else operands

    def mul(self, a, b, shape):
        return self.elementwise("arith.mulf", self.commute("order of a product", [a, b]), shape)

    def add(self, a, b):
        pair = [self.whole(a), self.whole(b)]
        return self.elementwise("arith.addf", self.commute("order of a sum", pair))

    def sub(self, a, b):
        if self.chance("a − b as a + (−b)", 0.25):
            return self.add(a, self.neg(b))
        return self.elementwise("arith.subf", [self.whole(a), self.whole(b)])

    def neg(self, value):
        spelling = self.draw("negation", ["negf", "times -1", "0 minus"])
        if spelling == "negf":
            return self.map("arith.negf", value)
        if spelling == "times -1":
            return self.scale(value, -1.0)
        zero = self.scalar(f"-0.0 : {value.element}")

        def body(names):
            result = self.fresh()
            return [f"{result} = arith.subf {zero}, {names[0]} : {value.element}"], result
        return self.generic([self.whole(value)], value.shape, value.element, body)

    def convert(self, value, element):
        """Floats to a wider or narrower type."""
        op = "arith.extf" if element == "f32" else "arith.truncf"
        result = Value("", value.shape, element)
        if self.draw("cast", ["tensor", "generic"]) == "tensor":
            return self.op(f"{op} {value.name} : {value.type} to {result.type}",
                           value.shape, element)

        def body(names):
            name = self.fresh()
            return [f"{name} = {op} {names[0]} : {value.element} to {element}"], name
        return self.generic([self.whole(value)], value.shape, element, body)

    def idle(self, value):
        """The value through steps that change nothing."""
        detour = self.draw("detour", ["none", "none", "none", "transposes", "unit dim", "slice",
                                      "times 1"])
        rank = len(value.shape)
        if detour == "transposes" and rank > 1:
            perm = list(range(rank))
            perm[0], perm[-1] = perm[-1], perm[0]
            return self.transpose(self.transpose(value, perm), perm)
        if detour == "unit dim":
            return self.collapse(self.unit(value, 0), 0)
        if detour == "slice":
            return self.slice(value, rank - 1, 0, value.shape[-1])
        if detour == "times 1":
            return self.scale(value, 1.0)
        return value
