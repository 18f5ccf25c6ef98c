"""Times compiled attention against the machine's peak.

    attention.py [CASE...] [--rounds N] [--json FILE] [--keep DIR]

Cases are those of cases.py; without any, a list that covers what matters. Each
is compiled by rope-compile (in PATH), checked against f64 on some rows, and
then timed: in every round all cases run in turn, each right after a loop of
nothing but multiply-adds, which is rope IR's own vector dialect through the
same compiler. What is printed for each case:

    best over best      GFLOP/s of the fastest call over those of the fastest loop
    median of ratios    of each call over the loop just before it

With one row (decoding), keys and values are read once, and what counts is
memory: shares are of the bytes in a second that a loop of nothing but loads
reads out of the cache.

harness.py says what may be compared with what.
"""

import ctypes

from cases import Case, Data, arguments, kernel_text
from harness import Kernel, compile_kernel, describe, run_cases

DEFAULT = """
attn:f32:full:S2048:D64 attn:f32:full:S2048:D128
rope_attn:f32:causal:S512:D64 rope_attn:f32:causal:S2048:D64
rope_attn:f32:causal:S2048:D128
rope_attn:f32:causal:H32:K8:S512:D64
attn:f32:causal:S2048:D64 roper_attn:f32:causal:S2048:D64
rope_attn:f32:causal:interleaved:S2048:D64 rope_attn:f32:causal:partial:S2048:D64
rope_attn:f32:causal:softcap30:S2048:D128 rope_attn:f32:causal:window512:S2048:D128
rope_attn:f32:causal:sink:S2048:D128 rope_attn:f32:causal:keep:S2048:D128
rope_attn:f32:full:add:S2048:D128
rope_attn:f32:causal:amp5:S2048:D64 rope_attn:f32:causal:amp30:S2048:D64
attn:f32:full:S1:N16384:D128 attn:f32:full:H32:K8:S1:N16384:D128
attn:bf16:full:S1:N16384:D128
attn:bf16:full:dots:S2048:D64 attn:bf16:full:dots:S2048:D128
rope_attn:bf16:causal:dots:S2048:D64 rope_attn:bf16:causal:dots:S2048:D128
""".split()


def bound(case):
    """On the error over the largest output: scores are as large as their inputs
    squared, and are rounded themselves."""
    return {"f32": 6e-7, "f16": 2e-3, "bf16": 8e-3}[case.dtype] * max(1.0, case.amp ** 2 * 0.5)


def make_kernel(text, folder, number):
    case = Case(text)
    kind = "avx2" if case.avx2 else "dots" if case.dots else "native"
    flags = ["--pipeline-options=relaxed-bf16"] if case.dots else []
    function, compile_seconds = compile_kernel(kernel_text(case), kind, folder, f"case{number}", *flags)
    data = Data(case)
    memory = [describe(data.arrays[name]) for name, _ in arguments(case)]
    call = lambda: function(*(ctypes.byref(m) for m in memory))
    limit, work = ("read", case.bytes()) if case.decodes else (kind, case.flops())
    kernel = Kernel(text, limit, work, call, compile_seconds)
    call()
    kernel.error, kernel.bound = data.error(), bound(case)
    return kernel


if __name__ == "__main__":
    run_cases(__doc__, DEFAULT, make_kernel)
