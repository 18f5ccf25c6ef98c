#!/usr/bin/env python3
"""Looks for repeats in few and in many products that are all equal: the time does not grow with
the square of their number, though the number of repeats does.
"""

import resource
import subprocess

FEW, MANY = 2500, 20000
# Of the growth of the number of products.
SLACK = 2.5


def products(number):
    rows, weight = "tensor<4x8xf32>", "tensor<8x8xf32>"
    lines = [f"func.func @main(%v0: {rows}, %w: {weight}) -> {rows} {{"]
    for i in range(number):
        lines.append(
            f"%v{i + 1} = linalg.matmul ins(%v{i}, %w : {rows}, {weight}) outs(%v{i} : {rows}) -> {rows}"
        )
    return "\n".join([*lines, f"return %v{number} : {rows}", "}"])


def outline(number):
    """The seconds that it takes to make all of them calls."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = subprocess.run(
        ["rope-opt", "-", "--rope-outline-repeats"],
        input=products(number),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert text.count("call @main_repeat(") == number // 2
    print(f"{number} products: {seconds:.2f} s")
    return seconds


if __name__ == "__main__":
    few, many = outline(FEW), outline(MANY)
    assert many <= SLACK * MANY / FEW * few
