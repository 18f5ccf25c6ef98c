#!/usr/bin/env python3
"""Draws models of a few layers that are almost equal, and compares each with plain loops, which
make no functions of layers. Weights are of one layer, parts of all, shared or constants; caches
are of one layer or of all; values come from the layer, from earlier ones or from none.
"""

import argparse
import random
import subprocess
import tempfile

ROWS, WEIGHT, CACHE = "tensor<4x8xf64>", "tensor<8x8xf64>", "tensor<16x8xf64>"
SAME = "affine_map<(i, j) -> (i, j)>"


class Model:
    """A function, op by op. What `plan` draws is the same in all layers, and `is_other` once in a
    while makes one layer another."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.layers = self.random.randint(2, 5)
        self.others = self.random.choice([0, 0.02, 0.1])
        self.arguments = {"%x": ROWS, "%position": "index"}
        self.ops = []
        self.weights, self.caches, self.made = {}, {}, []
        self.plan = [
            (
                self.random.choice(
                    ["product", "product", "into", "cache", "add", "body", "loop", "shape"]
                ),
                self.random.randrange(4),
                [self.random.random() for _ in range(2)],
            )
            for _ in range(self.random.randint(4, 9))
        ]

    def is_other(self):
        return self.random.random() < self.others

    def add(self, text):
        name = f"%v{len(self.ops)}"
        self.ops.append(f"{name} = {text}")
        return name

    def argument(self, name, kind):
        self.arguments[name] = kind
        return name

    def weight(self, number, layer):
        kind = self.weights.setdefault(
            number, self.random.choice(["own", "part", "shared", "constant"])
        )
        if kind == "shared" or self.is_other():
            return self.argument(f"%w{number}", WEIGHT)
        if kind == "own":
            return self.argument(f"%w{number}_{layer}", WEIGHT)
        if kind == "constant":
            return self.add(f"arith.constant dense<{0.1 * layer - 0.2}> : {WEIGHT}")
        whole = f"tensor<{self.layers}x8x8xf64>"
        self.argument(f"%w{number}_all", whole)
        return self.add(
            f"tensor.extract_slice %w{number}_all[{layer}, 0, 0] [1, 8, 8] [1, 1, 1] : {whole} to {WEIGHT}"
        )

    def product(self, rows, weight, start):
        value = self.add(
            f"linalg.matmul ins({rows}, {weight} : {ROWS}, {WEIGHT}) outs({start} : {ROWS}) -> {ROWS}"
        )
        return self.add(f"math.tanh {value} : {ROWS}")

    def start(self):
        empty = self.add(f"tensor.empty() : {ROWS}")
        return self.add(f"linalg.fill ins(%zero : f64) outs({empty} : {ROWS}) -> {ROWS}")

    def cache(self, rows, number, layer):
        """Puts a row into a cache, and multiplies by others of it."""
        row = "tensor<1x8xf64>"
        taken = self.add(f"tensor.extract_slice {rows}[1, 0] [1, 8] [1, 1] : {ROWS} to {row}")
        if number % 2:
            key, kind = f"%c{number}_{layer}", CACHE
        else:
            key, kind = f"%c{number}", f"tensor<{self.layers}x16x8xf64>"
        before, _ = self.caches.get(key, (self.argument(key, kind), kind))
        if number % 2:
            part = after = self.add(
                f"tensor.insert_slice {taken} into {before}[%position, 0] [1, 8] [1, 1] : {row} into {CACHE}"
            )
        else:
            at = f"[{layer}, 0, 0] [1, 16, 8] [1, 1, 1]"
            part = self.add(f"tensor.extract_slice {before}{at} : {kind} to {CACHE}")
            part = self.add(
                f"tensor.insert_slice {taken} into {part}[%position, 0] [1, 8] [1, 1] : {row} into {CACHE}"
            )
            after = self.add(f"tensor.insert_slice {part} into {before}{at} : {CACHE} into {kind}")
        self.caches[key] = after, kind
        weight = self.add(f"tensor.extract_slice {part}[3, 0] [8, 8] [1, 1] : {CACHE} to {WEIGHT}")
        return self.product(rows, weight, self.start())

    def layer(self, state, layer):
        values = [state]
        for kind, number, places in self.plan:
            a, b = (values[int(place * len(values))] for place in places)
            if self.made and self.is_other():
                b = self.random.choice(self.made)
            if kind == "product":
                value = self.product(a, self.weight(number, layer), self.start())
            elif kind == "into":
                value = self.product(a, self.weight(number, layer), b)
            elif kind == "cache":
                value = self.cache(a, number, layer)
            elif kind == "add":
                value = self.add(f"arith.addf {a}, {self.made[0] if number == 0 else b} : {ROWS}")
            elif kind == "body":
                value = self.add(
                    f'linalg.generic {{indexing_maps = [{SAME}, {SAME}], iterator_types = ["parallel", "parallel"]}} '
                    f"ins({a} : {ROWS}) outs({b} : {ROWS}) {{\n^bb0(%p: f64, %q: f64):\n"
                    f"%s = arith.mulf %p, %factor : f64\n%t = arith.subf %s, %q : f64\n"
                    f"linalg.yield %t : f64\n}} -> {ROWS}"
                )
            elif kind == "loop":
                value = self.add(
                    f"scf.for %i = %first to %last step %last iter_args(%s = {a}) -> ({ROWS}) {{\n"
                    f"%t = arith.addf %s, {b} : {ROWS}\nscf.yield %t : {ROWS}\n}}"
                )
            else:
                split = "tensor<4x2x4xf64>"
                value = self.add(
                    f"tensor.expand_shape {a} [[0], [1, 2]] output_shape [4, 2, 4] : {ROWS} into {split}"
                )
                value = self.add(f"tensor.collapse_shape {value} [[0], [1, 2]] : {split} into {ROWS}")
            values.append(value)
            if self.is_other():
                self.made.append(value)
        return self.add(f"math.tanh {values[-1]} : {ROWS}")

    def write(self):
        self.arguments["%factor"] = "f64"
        self.ops += [
            "%zero = arith.constant 0.0 : f64",
            "%first = arith.constant 0 : index",
            "%last = arith.constant 1 : index",
        ]
        state = self.add(f"math.sin %x : {ROWS}")
        self.made.append(state)
        for layer in range(self.layers):
            state = self.layer(state, layer)
        results = [(state, ROWS), *((value, ROWS) for value in self.made), *self.caches.values()]
        names, kinds = (", ".join(column) for column in zip(*results))
        writable = " {bufferization.writable = true}"
        arguments = ", ".join(
            f"{name}: {kind}{writable if name.startswith('%c') else ''}"
            for name, kind in self.arguments.items()
        )
        body = "\n".join(self.ops)
        return f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\nreturn {names} : {kinds}\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=16)
    options = parser.parse_args()
    calls = 0
    for seed in range(options.seed, options.seed + options.models):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(Model(seed).write())
            file.flush()
            outline = ["rope-opt", file.name, "--rope-outline-repeats"]
            text = subprocess.run(outline, capture_output=True, text=True, check=True).stdout
            calls += text.count("call @main_repeat")
            run = ["rope-run", file.name, "--random", "1", "--compare", "--rtol", "1e-9"]
            if subprocess.run(run, check=False).returncode:
                raise SystemExit(f"the model of seed {seed}")
    assert calls > options.models, calls


if __name__ == "__main__":
    main()
