"""Raises models that are spelled at random, and compares what they compute.

    spellings.py rotations|attentions|impostors [--cases N] [--seed S] [--show]

Case number i has the seed S + i. Each is raised by rope-raise to exactly the
ops that it was made from (an impostor to none), and computes the same raised
and unraised. Exit status 1 with the seeds if not; --show prints the functions.
"""

import argparse
import re
import subprocess
import sys

import attentions
import numpy as np
import rotations
from ir import Function

import rope_mlir

BATCH = 25
KINDS = {"rotations": rotations.build, "attentions": attentions.build}
OPS = re.compile(r"rope\.(?:rotate|rerotate|attention|online_attention|linear_attention)\b")


def make(kind, seed):
    """The function, the ops it is to be raised to, and its results."""
    rng = np.random.default_rng([seed, len(kind)])
    function = Function(f"case{seed}", rng)
    fault = None
    if kind == "impostors":
        fault = rotations.FAULTS[seed % len(rotations.FAULTS)]
        function.choices.add(f"fault: {fault}")
        results, _ = rotations.build(function, fault)
        return function, [], results
    results, ops = KINDS[kind](function)
    return function, ops, results


def raise_text(text):
    run = subprocess.run(["rope-opt", "--rope-raise"], input=text, text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"rope-opt failed:\n{run.stderr}\n{text}")
    parts = re.split(r"(?=func\.func @)", run.stdout)
    return run.stdout, {re.match(r"func\.func @(\w+)", p)[1]: p for p in parts[1:]}


def draw_input(spec, rng):
    shape = tuple(4 if n is None else n for n in spec.shape)
    if np.issubdtype(spec.dtype, np.integer) and not spec.is_bf16:
        return rng.integers(0, 16, shape).astype(spec.dtype)
    if spec.dtype == np.bool_:
        # Every row sees its first key.
        visible = rng.random(shape) < 0.7
        visible[..., 0] = True
        return visible
    values = rng.uniform(-1, 1, shape).astype(np.float32)
    if spec.is_bf16:
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(spec.dtype)


def as_float(array):
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.asarray(array).astype(np.float64)


def difference(plain, raised, name, seed):
    """The largest difference of the results over the largest value."""
    rng = np.random.default_rng(seed)
    inputs = [draw_input(spec, rng) for spec in plain.entries[name].args]
    want, got = (as_float(m.entries[name](*[i.copy() for i in inputs])) for m in (plain, raised))
    scale = max(np.abs(want).max(), 1.0)
    return np.abs(got - want).max() / scale, want


def run_batch(kind, seeds, show):
    made = {seed: make(kind, seed) for seed in seeds}
    texts = {seed: f.text(results) for seed, (f, _, results) in made.items()}
    text = "".join(texts.values())
    raised_text, functions = raise_text(text)
    plain, raised = rope_mlir.compile(text), rope_mlir.compile(raised_text)
    failures = []
    for seed, (function, ops, _) in made.items():
        found = OPS.findall(functions[function.name])
        error, _ = difference(plain, raised, function.name, seed)
        # A difference of one rounding of the result; impostors are left alone.
        bound = 8e-3 if "bf16" in texts[seed] else 2e-6
        if sorted(found) != sorted(ops) or not error <= bound:
            failures.append(seed)
            print(f"seed {seed}: raised to {found}, expected {ops}; differs by {error:.2e}; "
                  f"{sorted(function.choices)}")
            if show:
                print(texts[seed], functions[function.name], sep="\n// raised:\n")
    return failures, set().union(*(f.choices for f, _, _ in made.values()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["rotations", "attentions", "impostors"])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    failures, choices = [], set()
    end = options.seed + options.cases
    for first in range(options.seed, end, BATCH):
        batch = run_batch(options.kind, range(first, min(first + BATCH, end)), options.show)
        failures += batch[0]
        choices |= batch[1]
    print(f"{options.cases} {options.kind} by {len(choices)} choices, {len(failures)} wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
