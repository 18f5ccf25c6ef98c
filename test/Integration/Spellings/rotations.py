"""Rotations of position, spelled at random, and impostors with one fault each.

`build(function, fault)` writes a rotation of the last dim of a tensor and
returns its result and the name of the op that it must be raised to.
"""

# What makes the result something else than a rotation.
FAULTS = [
    "plus in both halves", "minus in both halves", "sine and cosine swapped in one half",
    "halves not exchanged", "two sources", "overlapping halves", "another cosine in one half",
    "one half scaled", "second half reversed", "first half squared", "bias on one half",
    "absolute value of one half", "rows shifted", "heads shifted", "a term twice",
    "maximum in place of the sum", "a channel read twice", "a channel of the other half",
]

LAYOUTS = {"bhsd": (2, 3, "s", "d"), "bshd": (2, "s", 3, "d"), "shd": ("s", 3, "d"),
           "hsd": (3, "s", "d"), "sbhd": ("s", 2, 3, "d")}


class Rotation:
    def __init__(self, f, fault=None):
        self.f, self.fault = f, fault
        self.layout = f.draw("layout", list(LAYOUTS))
        self.length = None if f.chance("dynamic length", 0.3) and not fault else 4
        self.pairing = f.draw("pairing", ["half", "interleaved"])
        self.inverse = f.chance("inverse", 0.3)
        self.rotated = 8
        self.share = f.draw("share", ["all", "leading", "trailing", "middle"])
        self.channels = 8 if self.share == "all" else 16
        self.offset = {"all": 0, "leading": 0, "trailing": 8, "middle": 4}[self.share]
        self.element = f.draw("element", ["f32", "f32", "f32", "bf16"])
        extents = {"s": self.length, "d": self.channels}
        self.shape = [extents.get(n, n) for n in LAYOUTS[self.layout]]
        self.row = self.layout.index("s")

    #---- Tables -------------------------------------------------------------

    def _positions(self):
        """The positions as f32, [s]."""
        f = self.f
        source = f.draw("positions", ["index", "argument"])
        if source == "index":
            def count(names):
                a, b, c = (f.fresh() for _ in range(3))
                return [f"{a} = linalg.index 0 : index", f"{b} = arith.index_cast {a} : index to i64",
                        f"{c} = arith.sitofp {b} : i64 to f32"], c
            return f.generic([], [self.length], "f32", count)
        element = f.draw("type of positions", ["i64", "i32"])
        ids = f.argument([self.length], element)

        def convert(names):
            name = f.fresh()
            return [f"{name} = arith.sitofp {names[0]} : {element} to f32"], name
        return f.generic([(ids, [0])], [self.length], "f32", convert)

    def _frequencies(self, pairs):
        f = self.f
        if f.draw("frequencies", ["constant", "argument"]) == "argument":
            return f.argument([pairs])
        numbers = ", ".join(f"{10000.0 ** (-i / pairs):.9e}" for i in range(pairs))
        return f.op(f"arith.constant dense<[{numbers}]> : tensor<{pairs}xf32>", [pairs], "f32")

    def _angles(self, pairs):
        f = self.f
        positions, frequencies = self._positions(), self._frequencies(pairs)
        operands = f.commute("order of an angle", [(positions, [0]), (frequencies, [1])])
        return f.elementwise("arith.mulf", operands, [self.length, pairs])

    def _repeat(self, table):
        """[s, p] to [s, 2p], as the pairing has it."""
        f = self.f
        if self.pairing == "half":
            return f.concat([table, table], 1)
        return f.collapse(f.concat([f.unit(table, 2), f.unit(table, 2)], 2), 1)

    def tables(self, width):
        """Cosine and sine of `width` channels, [s, width]."""
        f, pairs = self.f, self.rotated // 2
        source = f.draw("tables", ["computed", "arguments", "gathered"])
        if source == "arguments":
            return f.argument([self.length, width]), f.argument([self.length, width])
        if source == "gathered":
            return self._gathered(width)
        angles = self._angles(pairs)
        when = f.draw("repeat", ["angles", "tables"]) if width > pairs else "never"
        if when == "angles":
            angles = self._repeat(angles)
        tables = [f.map("math.cos", angles), f.map("math.sin", angles)]
        if when == "tables":
            tables = [self._repeat(t) for t in tables]
        if f.chance("magnitude", 0.25):
            tables = [f.scale(t, 1.25) for t in tables]
        return tables

    def _gathered(self, width):
        f = self.f
        ids = f.argument([self.length], "i64")
        shape = [self.length, width]
        column = f.index(1) and "1"

        def gather(table):
            def body(names):
                row, at, result = (f.fresh() for _ in range(3))
                return [f"{row} = arith.index_cast {names[0]} : i64 to index",
                        f"{at} = linalg.index {column} : index",
                        f"{result} = tensor.extract {table.name}[{row}, {at}] : {table.type}"], result
            return f.generic([(ids, [0])], shape, "f32", body)
        return [gather(f.argument([16, width])), gather(f.argument([16, width]))]

    #---- Halves -------------------------------------------------------------

    def split(self, x):
        """The first and the second channels of all pairs."""
        f, last, pairs = self.f, len(x.shape) - 1, self.rotated // 2
        shift = 1 if self.fault == "overlapping halves" else 0
        if self.pairing == "half":
            if not shift and f.draw("halves", ["slices", "expand"]) == "expand":
                both = f.expand(x, last, pairs)
                return [f.collapse(f.slice(both, last, i, 1), last) for i in range(2)]
            return f.slice(x, last, 0, pairs), f.slice(x, last, pairs - shift, pairs)
        if shift:
            return f.slice(x, last, 0, pairs, 2), f.slice(x, last, 0, pairs, 2)
        if f.draw("neighbours", ["strided slices", "expand"]) == "expand":
            both = f.expand(x, last, 2)
            return [f.collapse(f.slice(both, last + 1, i, 1), last) for i in range(2)]
        return f.slice(x, last, 0, pairs, 2), f.slice(x, last, 1, pairs, 2)

    def join(self, first, second):
        f, last = self.f, len(first.shape) - 1
        if self.pairing == "half":
            return f.concat([first, second], last)
        if f.draw("interleave", ["strided inserts", "stack"]) == "stack":
            both = [f.unit(v, last + 1) for v in (first, second)]
            return f.collapse(f.concat(both, last + 1), last)
        shape = [*first.shape[:-1], self.rotated]
        whole = f.insert(first, f.empty(shape, first.element), last, 0, 2)
        return f.insert(second, whole, last, 1, 2)

    def _table_dims(self):
        return [self.row_now, len(self.shape) - 1]

    def _times(self, x, table):
        return self.f.mul(self.f.whole(x), (table, self._table_dims()), x.shape)

    def _damage_halves(self, first, second, other):
        f, last = self.f, len(first.shape) - 1
        if self.fault == "two sources":
            second = self.split(other)[1]
        if self.fault == "second half reversed":
            columns = [f.slice(second, last, i, 1) for i in reversed(range(second.shape[-1]))]
            second = f.concat(columns, last)
        if self.fault in ("a channel read twice", "a channel of the other half"):
            kept = f.slice(second, last, 0, second.shape[-1] - 1)
            wrong = second if self.fault == "a channel read twice" else first
            second = f.concat([kept, f.slice(wrong, last, 0, 1)], last)
        if self.fault == "absolute value of one half":
            second = f.map("math.absf", second)
        if self.fault == "rows shifted":
            second = self._shift(second, self.row_now)
        if self.fault == "heads shifted":
            second = self._shift(second, next(i for i, n in enumerate(second.shape) if n == 3))
        if self.fault == "first half squared":
            first = f.mul(f.whole(first), f.whole(first), first.shape)
        if self.fault == "one half scaled":
            second = f.scale(second, 0.5)
        return first, second

    def _shift(self, value, dim):
        """The value with the first of a dim moved to the end."""
        f, extent = self.f, value.shape[dim]
        return f.concat([f.slice(value, dim, 1, extent - 1), f.slice(value, dim, 0, 1)], dim)

    #---- The rotation ---------------------------------------------------------

    def _by_halves(self, x, other):
        """Two products and a sum for each half; tables of one column a pair."""
        f = self.f
        cosine, sine = self.tables(self.rotated // 2)
        first, second = self._damage_halves(*self.split(x), other)
        other_cosine = (f.argument(cosine.shape) if self.fault == "another cosine in one half"
                        else cosine)
        minus = self.fault == "minus in both halves"
        plus = self.fault == "plus in both halves"
        if self.fault == "halves not exchanged":
            low = self._times(first, cosine), self._times(first, sine)
            high = self._times(second, other_cosine), self._times(second, sine)
        else:
            low = self._times(first, cosine), self._times(second, sine)
            high = self._times(second, other_cosine), self._times(first, sine)
        if self.fault == "sine and cosine swapped in one half":
            high = self._times(second, sine), self._times(first, cosine)
        combine = [f.add if plus or (self.inverse and not minus) else f.sub,
                   f.sub if minus or (self.inverse and not plus) else f.add]
        first_out, second_out = combine[0](*low), combine[1](*high)
        if self.fault == "maximum in place of the sum":
            second_out = f.elementwise("arith.maximumf", [f.whole(v) for v in high])
        if self.fault == "a term twice":
            second_out = f.add(second_out, high[1])
        if self.fault == "bias on one half":
            bias = f.op(f"tensor.splat {f.scalar('0.5 : f32')} : {first_out.type}",
                        first_out.shape, "f32")
            first_out = f.add(first_out, bias)
        return self.join(first_out, second_out)

    def _by_exchange(self, x, other):
        """x · cos + exchanged x · sin; tables of one column a channel."""
        f = self.f
        cosine, sine = self.tables(self.rotated)
        first, second = self._damage_halves(*self.split(x), other)
        if self.fault == "halves not exchanged":
            first, second = second, first
        where = f.draw("inverse by", ["sine", "exchange"]) if self.inverse else ""
        if where == "sine":
            sine = f.neg(sine)
        if self.fault in ("plus in both halves", "minus in both halves"):
            sign = f.neg if self.fault.startswith("minus") else (lambda v: v)
            exchanged = self.join(sign(second), sign(first))
        elif where == "exchange":
            exchanged = self.join(second, f.neg(first))
        else:
            exchanged = self.join(f.neg(second), first)
        return f.add(self._times(x, cosine), self._times(exchanged, sine))

    def _by_complex(self, x):
        """(first + i · second) · (cos + i · sin)."""
        f = self.f
        cosine, sine = self.tables(self.rotated // 2)
        if self.inverse:
            sine = f.neg(sine)
        first, second = self.split(x)
        number = self._complex(f.whole(first), f.whole(second), first.shape)
        table = self._complex(f.whole(cosine), f.whole(sine), cosine.shape)

        def product(names):
            name = f.fresh()
            return [f"{name} = complex.mul {names[0]}, {names[1]} : complex<f32>"], name
        turned = f.generic([f.whole(number), (table, self._table_dims())], number.shape,
                           "complex<f32>", product)
        return self.join(*(self._part(turned, part) for part in ("re", "im")))

    def _complex(self, real, imaginary, shape):
        f = self.f

        def create(names):
            name = f.fresh()
            return [f"{name} = complex.create {names[0]}, {names[1]} : complex<f32>"], name
        return f.generic([real, imaginary], shape, "complex<f32>", create)

    def _part(self, number, part):
        f = self.f

        def take(names):
            name = f.fresh()
            return [f"{name} = complex.{part} {names[0]} : complex<f32>"], name
        return f.generic([f.whole(number)], number.shape, "f32", take)

    def _rotate(self, x, other):
        by_halves = ["another cosine in one half", "sine and cosine swapped in one half",
                     "maximum in place of the sum", "a term twice", "bias on one half"]
        exchange = ["overlapping halves", "first half squared", "absolute value of one half"]
        options = ["halves", "exchange"] + ([] if self.fault else ["complex"])
        if self.fault in by_halves + exchange:
            options = ["halves"]
        spelling = self.f.draw("rotation", options)
        if spelling == "complex":
            return self._by_complex(x)
        return (self._by_halves if spelling == "halves" else self._by_exchange)(x, other)

    def _put_back(self, turned, x):
        f, last = self.f, len(x.shape) - 1
        if self.share == "all":
            return turned
        if f.draw("the rest", ["concat", "insert"]) == "insert":
            return f.insert(turned, x, last, self.offset)
        ends = [(0, self.offset), (self.offset + 8, self.channels - self.offset - 8)]
        parts = [f.slice(x, last, at, size) if size else None for at, size in ends]
        return f.concat([p for p in (parts[0], turned, parts[1]) if p], last)

    def build(self):
        f = self.f
        x = f.argument(self.shape, self.element)
        self.length = x.shape[self.row]
        other = f.argument(self.shape, "f32") if self.fault == "two sources" else x
        wide = f.convert(x, "f32") if self.element == "bf16" else x
        wide = f.idle(wide)
        perm = list(range(len(self.shape)))
        self.row_now = self.row
        if f.chance("rows moved", 0.3):
            dim = 0 if self.row else 1
            perm[dim], perm[self.row] = perm[self.row], perm[dim]
            wide, self.row_now = f.transpose(wide, perm), dim
            if other is not x:
                other = f.transpose(other, perm)
        last = len(self.shape) - 1
        cut = (lambda v: v if self.share == "all" else f.slice(v, last, self.offset, 8))
        turned = self._rotate(cut(wide), cut(other) if other is not x else None)
        result = self._put_back(turned, wide)
        if self.row_now != self.row:
            result = f.transpose(result, perm)
        result = f.idle(result)
        if self.element == "bf16":
            result = f.convert(result, "bf16")
        return result, "rope.rerotate" if self.inverse else "rope.rotate"


def build(function, fault=None):
    result, op = Rotation(function, fault).build()
    return [result], [op]
