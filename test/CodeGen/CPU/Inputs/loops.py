"""Tells what the loops of assembly (AT&T, from llc) that multiply a lot are made of.

    loops.py [LEAST] < FILE.s

A line for each loop of one basic block with at least 32 (or LEAST)
multiply-adds of vectors: how many of these, how many references to the stack that are not its
arrays (a spilled register has a constant place), stores, calls, and lines asked for ahead.
"""

import collections
import re
import sys


def blocks(lines):
    """(label, instructions) of each basic block that starts with a label."""
    label, code = None, []
    for line in lines:
        line = line.split("#")[0].strip()
        if match := re.match(r"(\.L\w+):", line):
            yield label, code
            label, code = match[1], []
        elif line and not line.startswith("."):
            code.append(line)
            if line.startswith("j"):
                yield label, code
                label, code = None, []
    yield label, code


def describe(code, stack):
    count = collections.Counter()
    for line in code:
        count["fma"] += bool(re.match(r"vfn?m(add|sub)\w*ps\b|vdpbf16ps\b", line))
        count["spill"] += bool(re.search(stack, line))
        count["store"] += bool(re.match(r"vmov\w+\s+%[xyz]mm\d+, .*\(", line))
        count["call"] += line.startswith("call")
        count["prefetch"] += line.startswith("prefetch")
    return count


KINDS = ("fma", "spill", "store", "call", "prefetch")
least = int(sys.argv[1]) if len(sys.argv) > 1 else 32
lines = sys.stdin.readlines()
# Without a frame, rbp is a register like any other.
framed = any(re.match(r"\s*movq\s+%rsp, %rbp$", line) for line in lines)
stack = r"\(%r[sb]p\)" if framed else r"\(%rsp\)"
for name, code in blocks(lines):
    if not name or not code or not re.match(rf"j\w+\s+{re.escape(name)}$", code[-1]):
        continue
    count = describe(code, stack)
    if count["fma"] >= least:
        print("loop: " + ", ".join(f"{count[kind]} {kind}" for kind in KINDS))
