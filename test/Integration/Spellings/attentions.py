"""Softmax attention, spelled at random.

`build(function)` writes attention of one query, key and value and returns its
result and the name of the op that it must be raised to.
"""

import math

QUERIES, KEYS, CHANNELS = 5, 5, 8


class Attention:
    def __init__(self, f):
        self.f = f
        self.dynamic = f.chance("dynamic length", 0.3)
        self.rows = None if self.dynamic else QUERIES
        self.keys = None if self.dynamic else KEYS
        self.groups = f.draw("query heads of a key head", [1, 2])
        self.heads, self.batches = 2, 2
        self.element = f.draw("element", ["f32", "f32", "f32", "bf16"])

    #---- Operands -----------------------------------------------------------

    def _operand(self, heads, rows):
        """An argument as [batch, head, row, channel]."""
        f = self.f
        if f.draw("layout", ["bhsd", "bshd"]) == "bhsd":
            x = f.argument([self.batches, heads, rows, CHANNELS], self.element)
        else:
            x = f.transpose(f.argument([self.batches, rows, heads, CHANNELS], self.element),
                            [0, 2, 1, 3])
        return f.idle(f.convert(x, "f32") if self.element == "bf16" else x)

    def _repeat(self, x):
        """Each key head as many times as there are query heads of it."""
        f = self.f
        if self.groups == 1:
            return x
        batches, heads, rows, channels = x.shape
        shape = [batches, heads, self.groups, rows, channels]
        return f.collapse(f.broadcast(x, [0, 1, 3, 4], shape), 1)

    #---- Contractions ---------------------------------------------------------

    def _contract(self, a, a_dims, b, b_dims, shape):
        """Sums over the loop after those of `shape`."""
        f = self.f
        zero = f.scalar("0.0 : f32")
        empty = f.empty(shape, "f32")
        init = f.op(f"linalg.fill ins({zero} : f32) outs({empty.name} : {empty.type}) "
                    f"-> {empty.type}", shape, "f32")

        def body(names):
            product, total = f.fresh(), f.fresh()
            pair = f.commute("order of a product", names[:2])
            terms = f.commute("order of a sum", [names[2], product])
            return [f"{product} = arith.mulf {', '.join(pair)} : f32",
                    f"{total} = arith.addf {', '.join(terms)} : f32"], total
        return f.generic([(a, a_dims), (b, b_dims)], shape, "f32", body, reduced=[1], init=init)

    def _flat(self, x):
        return self.f.collapse(x, 0)

    def _batched(self, a, b, shape):
        """linalg.batch_matmul of [batch, head, …] operands."""
        f = self.f
        a, b = self._flat(a), self._flat(b)
        out_shape = [shape[0] * shape[1], *shape[2:]]
        empty = f.empty(out_shape, "f32")
        zero = f.scalar("0.0 : f32")
        init = f.op(f"linalg.fill ins({zero} : f32) outs({empty.name} : {empty.type}) "
                    f"-> {empty.type}", out_shape, "f32")
        flat = f.op(f"linalg.batch_matmul ins({a.name}, {b.name} : {a.type}, {b.type}) "
                    f"outs({init.name} : {init.type}) -> {init.type}", out_shape, "f32")
        return f.expand(flat, 0, shape[1])

    def _scores(self, q, k):
        f = self.f
        shape = [*q.shape[:3], k.shape[2]]
        spelling = f.draw("scores", ["generic", "transposed keys", "batch_matmul"])
        if spelling == "generic":
            return self._contract(q, [0, 1, 2, 4], k, [0, 1, 3, 4], shape)
        k = f.transpose(k, [0, 1, 3, 2])
        if spelling == "batch_matmul":
            return self._batched(q, k, shape)
        return self._contract(q, [0, 1, 2, 4], k, [0, 1, 4, 3], shape)

    def _output(self, weights, v):
        f = self.f
        shape = [*weights.shape[:3], v.shape[3]]
        if f.draw("output", ["generic", "batch_matmul"]) == "batch_matmul":
            return self._batched(weights, v, shape)
        return self._contract(weights, [0, 1, 2, 4], v, [0, 1, 4, 3], shape)

    #---- Scores ---------------------------------------------------------------

    def _cap(self, scores):
        f = self.f
        if not f.chance("softcap", 0.2):
            return scores
        return f.scale(f.map("math.tanh", f.scale(scores, 0.0625)), 16.0)

    def _causal(self, scores):
        """−inf where the key is after the row."""
        f = self.f
        lowest = f.draw("masked", ["0xFF800000", "-3.40282347E+38"])
        comparison = f.draw("causal by", ["sgt", "sle"])
        spelling = f.draw("mask", ["select", "added"])
        zero, minus = f.scalar("0.0 : f32"), f.scalar(f"{lowest} : f32")

        def body(names):
            row, key, hidden, masked = (f.fresh() for _ in range(4))
            lines = [f"{row} = linalg.index 2 : index", f"{key} = linalg.index 3 : index",
                     f"{hidden} = arith.cmpi {comparison}, {key}, {row} : index"]
            kept = zero if spelling == "added" else names[0]
            pair = [minus, kept] if comparison == "sgt" else [kept, minus]
            lines.append(f"{masked} = arith.select {hidden}, {', '.join(pair)} : f32")
            if spelling == "select":
                return lines, masked
            total = f.fresh()
            return lines + [f"{total} = arith.addf {names[0]}, {masked} : f32"], total
        return f.generic([f.whole(scores)], scores.shape, "f32", body)

    def _mask(self, scores):
        f = self.f
        kind = f.draw("mask kind", ["none", "causal", "boolean", "additive"])
        if kind == "causal":
            return self._causal(scores)
        if kind == "none":
            return scores
        shape = [*scores.shape[2:]]
        lead = f.draw("mask dims", ["mn", "bmn"])
        dims = [2, 3] if lead == "mn" else [0, 2, 3]
        shape = shape if lead == "mn" else [self.batches, *shape]
        if kind == "additive":
            mask = f.argument(shape, "f32")
            return f.elementwise("arith.addf", f.commute("order of a sum", [
                f.whole(scores), (mask, dims)]), scores.shape)
        mask = f.argument(shape, "i1")
        minus = f.scalar("0xFF800000 : f32")

        def body(names):
            kept = f.fresh()
            return [f"{kept} = arith.select {names[1]}, {names[0]}, {minus} : f32"], kept
        return f.generic([f.whole(scores), (mask, dims)], scores.shape, "f32", body)

    #---- Softmax ----------------------------------------------------------------

    def _reduce(self, x, op, identity):
        f = self.f
        shape = x.shape[:3]
        empty = f.empty(shape, "f32")
        start = f.scalar(f"{identity} : f32")
        init = f.op(f"linalg.fill ins({start} : f32) outs({empty.name} : {empty.type}) "
                    f"-> {empty.type}", shape, "f32")
        if f.draw("reduction", ["generic", "linalg.reduce"]) == "linalg.reduce":
            return f.op(f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) "
                        f"outs({init.name} : {init.type}) dimensions = [3]", shape, "f32")

        def body(names):
            total = f.fresh()
            pair = f.commute("order of a reduction", names[:2])
            return [f"{total} = {op} {', '.join(pair)} : f32"], total
        return f.generic([(x, [0, 1, 2, 3])], shape, "f32", body, reduced=[1], init=init)

    def _softmax(self, scores):
        f = self.f
        rows = [0, 1, 2]
        if f.chance("linalg.softmax", 0.2):
            out = f.empty(scores.shape, "f32")
            return f.op(f"linalg.softmax dimension(3) ins({scores.name} : {scores.type}) "
                        f"outs({out.name} : {out.type}) -> {out.type}", scores.shape, "f32"), None
        op = f.draw("maximum", ["arith.maximumf", "arith.maxnumf"])
        largest = self._reduce(scores, op, "0xFF800000")
        shifted = f.elementwise("arith.subf", [f.whole(scores), (largest, rows)], scores.shape)
        weights = f.map("math.exp", shifted)
        total = self._reduce(weights, "arith.addf", "0.0")
        where = f.draw("division", ["weights", "output", "reciprocal"])
        if where == "output":
            return weights, total
        if where == "weights":
            return f.elementwise("arith.divf", [f.whole(weights), (total, rows)],
                                 weights.shape), None
        one = f.scalar("1.0 : f32")

        def invert(names):
            inverse = f.fresh()
            return [f"{inverse} = arith.divf {one}, {names[0]} : f32"], inverse
        inverse = f.generic([f.whole(total)], total.shape, "f32", invert)
        return f.mul(f.whole(weights), (inverse, rows), weights.shape), None

    def build(self):
        f = self.f
        q = self._operand(self.heads * self.groups, self.rows)
        k = self._repeat(self._operand(self.heads, self.keys))
        v = self._repeat(self._operand(self.heads, self.keys))
        scale = 1 / math.sqrt(CHANNELS)
        where = f.draw("scale", ["scores", "query", "key", "both roots", "none"])
        if where in ("query", "both roots"):
            q = f.scale(q, scale if where == "query" else math.sqrt(scale))
        if where in ("key", "both roots"):
            k = f.scale(k, scale if where == "key" else math.sqrt(scale))
        scores = self._scores(q, k)
        if where == "scores":
            scores = f.scale(scores, scale)
        weights, total = self._softmax(self._mask(self._cap(scores)))
        result = self._output(weights, v)
        if total is not None:
            result = f.elementwise("arith.divf", [f.whole(result), (total, [0, 1, 2])],
                                   result.shape)
        if f.draw("layout of the result", ["bhsd", "bshd"]) == "bshd":
            result = f.transpose(result, [0, 2, 1, 3])
        if self.element == "bf16":
            result = f.convert(result, "bf16")
        return [f.idle(result)], ["rope.attention"]


def build(function):
    return Attention(function).build()
