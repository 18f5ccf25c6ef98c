#!/usr/bin/env python3
"""Raises and fuses models of few and of many layers: each layer's attention is one op, one table
serves all, and the time grows with the number of layers, not with its square.

Times are of the processor, and the limits loose: what is slower by a factor passes, what is
quadratic does not.
"""

import pathlib
import re
import resource
import subprocess
import sys

import repeat_layers

FEW, MANY = 4, 32
# Of the growth of the number of layers; quadratic growth would be MANY / FEW times it.
SLACK = 2.5


def raise_and_fuse(text):
    """The counts of ops after raising and fusing, and the seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(
        ["rope-opt", "-", "--rope-raise", "--rope-fuse", "--print-op-stats", "-o", "/dev/null"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        sys.exit(run.stderr)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    counts = re.findall(r"([a-z]+\.[a-z_]+)\s*, (\d+)", run.stderr)
    return {name: int(count) for name, count in counts}, seconds


def check(model, own_tables):
    seconds = {}
    sizes = {}
    for layers in (FEW, MANY):
        text = repeat_layers.repeat(model, layers, own_tables)
        counts, seconds[layers] = raise_and_fuse(text)
        sizes[layers] = sum(counts.values())
        print(f"{layers} layers: {sizes[layers]} ops, {seconds[layers]:.2f} s")
        assert counts["rope.attention"] == layers, counts
        assert counts["rope.table"] == 1, counts
        assert "rope.rotate" not in counts and "math.exp" not in counts, counts
    growth = MANY / FEW
    assert sizes[MANY] <= growth * sizes[FEW]
    assert seconds[MANY] <= SLACK * growth * seconds[FEW]


def main():
    model = pathlib.Path(__file__).with_name("llama8b_attention.mlir").read_text(encoding="utf-8")
    for own_tables in (False, True):
        check(model, own_tables)


if __name__ == "__main__":
    main()
