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

Only these ratios mean anything: machines differ, and clocks change within a
run. Time is that of the calling thread, so that a busy machine takes less from
it; caches and memory it still shares. Put it on one core by taskset.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from cases import Case, Data, arguments, kernel_text

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
""".split()

LANES = {"native": 16, "avx2": 8}
SUMS = {"native": 24, "avx2": 12}


def peak_text(kind):
    """A loop of multiply-adds in enough sums to hide their latency."""
    lanes, count = LANES[kind], SUMS[kind]
    vector = f"vector<{lanes}xf32>"
    sums = [f"%s{i}" for i in range(count)]
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
             f"%x = vector.load %m[%c0] : memref<{lanes}xf32>, {vector}"]
    inits = ", ".join(f"{s} = %x" for s in sums)
    lines.append(f"%r:{count} = scf.for %i = %c0 to %n step %c1 iter_args({inits}) -> ({', '.join([vector] * count)}) {{")
    lines += [f"%t{i} = vector.fma %x, %x, {s} : {vector}" for i, s in enumerate(sums)]
    lines.append(f"scf.yield {', '.join(f'%t{i}' for i in range(count))} : {', '.join([vector] * count)} }}")
    total = "%r#0"
    for i in range(1, count):
        lines.append(f"%u{i} = arith.addf {total}, %r#{i} : {vector}")
        total = f"%u{i}"
    lines.append(f"vector.store {total}, %m[%c0] : memref<{lanes}xf32>, {vector}")
    body = "\n  ".join(lines)
    return f"func.func @kernel(%n: index, %m: memref<{lanes}xf32>) {{\n  {body}\n  return\n}}\n"


class Descriptor(ctypes.Structure):
    """What a function takes for a memref."""

    def __init__(self, array):
        super().__init__(array.ctypes.data, array.ctypes.data, 0, array.ctypes.shape_as(ctypes.c_int64),
                         (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides)))


def describe(array):
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
              ("sizes", ctypes.c_int64 * array.ndim), ("strides", ctypes.c_int64 * array.ndim)]
    return type("Descriptor", (Descriptor,), {"_fields_": fields})(array)


def compile_kernel(text, kind, folder, name, *flags):
    """The function of a module, and the seconds that compiling took."""
    path = os.path.join(folder, name)
    with open(path + ".mlir", "w") as file:
        file.write(text)
    target = ["--target-cpu=native"] if kind == "native" else ["--target-cpu=haswell"]
    start = time.perf_counter()
    subprocess.run(["rope-compile", path + ".mlir", "-o", path + ".so", *target, *flags], check=True,
                   stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    return ctypes.CDLL(path + ".so")._mlir_ciface_kernel, seconds


def timed(call):
    start = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - start) * 1e-9


def read_text(kind):
    """A loop that loads and adds, four vectors at a time."""
    vector, count = f"vector<{LANES[kind]}xf32>", 4
    sums = [f"%s{i}" for i in range(count)]
    lines = ["%c0 = arith.constant 0 : index", f"%c = arith.constant {LANES[kind] * count} : index",
             f"%x = arith.constant dense<0.0> : {vector}"]
    inits = ", ".join(f"{s} = %x" for s in sums)
    lines.append(f"%r:{count} = scf.for %i = %c0 to %n step %c iter_args({inits}) -> ({', '.join([vector] * count)}) {{")
    for i, s in enumerate(sums):
        lines += [f"%o{i} = arith.constant {i * LANES[kind]} : index", f"%i{i} = arith.addi %i, %o{i} : index",
                  f"%v{i} = vector.load %m[%i{i}] : memref<?xf32>, {vector}",
                  f"%t{i} = arith.addf {s}, %v{i} : {vector}"]
    lines.append(f"scf.yield {', '.join(f'%t{i}' for i in range(count))} : {', '.join([vector] * count)} }}")
    lines += [f"%u = arith.addf %r#0, %r#1 : {vector}", f"%w = arith.addf %r#2, %r#3 : {vector}",
              f"%z = arith.addf %u, %w : {vector}", f"vector.store %z, %m[%c0] : memref<?xf32>, {vector}"]
    body = "\n  ".join(lines)
    return f"func.func @kernel(%n: index, %m: memref<?xf32>) {{\n  {body}\n  return\n}}\n"


class Reader:
    """Samples how many bytes a second are read from memory."""

    def __init__(self, kind, folder):
        function, _ = compile_kernel(read_text(kind), kind, folder, "read-" + kind)
        # Not zeros: those may all be one page.
        self.array = np.ones(1 << 26, np.float32)
        memory = describe(self.array)
        self.call = lambda: function(ctypes.c_int64(self.array.size), ctypes.byref(memory))
        self.call()

    def sample(self):
        return self.array.nbytes / timed(self.call)


class Peak:
    """Samples the peak for some milliseconds."""

    def __init__(self, kind, folder):
        function, _ = compile_kernel(peak_text(kind), kind, folder, "peak-" + kind)
        memory = describe(np.zeros(LANES[kind], np.float32))
        self.count = 100000
        self.flops = 2 * LANES[kind] * SUMS[kind]
        self.call = lambda: function(ctypes.c_int64(self.count), ctypes.byref(memory))
        self.call()
        self.count = int(self.count * 2e-3 / timed(self.call))

    def sample(self):
        return self.flops * self.count / timed(self.call)


class Kernel:
    """A compiled case and its calls so far."""

    def __init__(self, text, folder, number):
        self.case = Case(text)
        self.kind = "avx2" if self.case.avx2 else "native"
        self.limit = (Reader if self.case.decodes else Peak, self.kind)
        function, self.compile_seconds = compile_kernel(kernel_text(self.case), self.kind, folder, f"case{number}")
        self.data = Data(self.case)
        memory = [describe(self.data.arrays[name]) for name, _ in arguments(self.case)]
        self.call = lambda: function(*(ctypes.byref(m) for m in memory))
        self.seconds, self.ratios = [], []
        self.call()
        self.error = self.data.error()

    def bound(self):
        """On the error over the largest output: scores are as large as their
        inputs squared, and are rounded themselves."""
        size = max(1.0, self.case.amp ** 2 * 0.5)
        return {"f32": 6e-7, "f16": 2e-3, "bf16": 8e-3}[self.case.dtype] * size

    def work(self):
        return self.case.bytes() if self.case.decodes else self.case.flops()

    def run(self, limit):
        sample = limit.sample()
        self.seconds.append(timed(self.call))
        self.ratios.append(self.work() / self.seconds[-1] / sample)
        return sample

    def report(self, best_limit):
        best = min(self.seconds)
        return {"case": self.case.text, "share": self.work() / best / best_limit,
                "median_share": statistics.median(self.ratios), "ms": best * 1e3,
                "error": float(self.error), "compile_s": self.compile_seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=DEFAULT)
    parser.add_argument("--rounds", type=int, default=15, help="calls of each case (at least 7)")
    parser.add_argument("--json", help="append a line for each case to this file")
    parser.add_argument("--keep", help="leave IR and libraries in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        folder = args.keep or folder
        kernels = [Kernel(text, folder, i) for i, text in enumerate(args.cases or DEFAULT)]
        for kernel in kernels:
            if not kernel.error <= kernel.bound():
                sys.exit(f"{kernel.case.text}: error {kernel.error:.1e} of the largest output is over "
                         f"{kernel.bound():.1e}")
        limits = {limit: limit[0](limit[1], folder) for limit in {k.limit for k in kernels}}
        best = dict.fromkeys(limits, 0.0)
        for _ in range(max(args.rounds, 7)):
            for kernel in kernels:
                best[kernel.limit] = max(best[kernel.limit], kernel.run(limits[kernel.limit]))
    for (limit, kind), rate in best.items():
        print(f"{limit.__name__.lower()} {kind} {rate * 1e-9:.1f} {'GFLOP/s' if limit is Peak else 'GB/s'}")
    print(f"{'case':44} {'share':>6} {'median':>6} {'ms':>9} {'error':>8} {'compile':>8}")
    for kernel in kernels:
        r = kernel.report(best[kernel.limit])
        print(f"{r['case']:44} {r['share']:6.3f} {r['median_share']:6.3f} {r['ms']:9.2f} {r['error']:8.1e} "
              f"{r['compile_s']:7.2f}s")
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps(r) + "\n")


if __name__ == "__main__":
    main()
