"""Compiles cases, checks them, and times them against limits of the machine.

What attention.py and matmul.py share. Only ratios of one run mean anything:
machines differ, and clocks change within a run. Time is that of the calling
thread, so that a busy machine takes less from it; caches and memory it still
shares. Put it on one core by taskset. A case that takes less than TURN_SECONDS is
called several times in its turn, unless memory is its limit.
"""

import argparse
import ctypes
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from cases import aligned

LANES = {"native": 16, "avx2": 8, "dots": 16}
SUMS = {"native": 24, "avx2": 12, "dots": 24}
TURN_SECONDS = 20e-3


def peak_text(kind):
    """A loop of multiply-adds, or of those of pairs of bf16, in enough sums to hide their latency."""
    lanes, count = LANES[kind], SUMS[kind]
    vector = f"vector<{lanes}xf32>"
    sums = [f"%s{i}" for i in range(count)]
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
             f"%x = vector.load %m[%c0] : memref<{lanes}xf32>, {vector}"]
    add = lambda s: f"vector.fma %x, %x, {s} : {vector}"
    if kind == "dots":
        pairs = f"vector<{2 * lanes}xbf16>"
        lines.append(f"%p = vector.bitcast %x : {vector} to {pairs}")
        add = lambda s: f"x86vector.avx512.dot {s}, %p, %p : {pairs} -> {vector}"
    inits = ", ".join(f"{s} = %x" for s in sums)
    lines.append(f"%r:{count} = scf.for %i = %c0 to %n step %c1 iter_args({inits}) -> ({', '.join([vector] * count)}) {{")
    lines += [f"%t{i} = {add(s)}" for i, s in enumerate(sums)]
    lines.append(f"scf.yield {', '.join(f'%t{i}' for i in range(count))} : {', '.join([vector] * count)} }}")
    total = "%r#0"
    for i in range(1, count):
        lines.append(f"%u{i} = arith.addf {total}, %r#{i} : {vector}")
        total = f"%u{i}"
    lines.append(f"vector.store {total}, %m[%c0] : memref<{lanes}xf32>, {vector}")
    body = "\n  ".join(lines)
    return f"func.func @kernel(%n: index, %m: memref<{lanes}xf32>) {{\n  {body}\n  return\n}}\n"


class Descriptor(ctypes.Structure):
    """What a function takes for a memref; it keeps the array alive."""

    def __init__(self, array):
        self.array = array
        super().__init__(array.ctypes.data, array.ctypes.data, 0, array.ctypes.shape_as(ctypes.c_int64),
                         (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides)))


def describe(array):
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
              ("sizes", ctypes.c_int64 * array.ndim), ("strides", ctypes.c_int64 * array.ndim)]
    return type("Descriptor", (Descriptor,), {"_fields_": fields})(array)


def compile_library(text, kind, folder, name, *flags):
    """A compiled module, and the seconds that this took."""
    path = os.path.join(folder, name)
    with open(path + ".mlir", "w") as file:
        file.write(text)
    target = "--target-cpu=haswell" if kind == "avx2" else "--target-cpu=native"
    start = time.perf_counter()
    try:
        subprocess.run(["rope-compile", path + ".mlir", "-o", path + ".so", target, *flags], check=True,
                       stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{name} is not compiled: {error}")
    seconds = time.perf_counter() - start
    return ctypes.CDLL(path + ".so"), seconds


def compile_kernel(text, kind, folder, name, *flags):
    """The function @kernel of a module, and the seconds that compiling took."""
    library, seconds = compile_library(text, kind, folder, name, *flags)
    return library._mlir_ciface_kernel, seconds


def timed(call):
    start = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - start) * 1e-9


# ---- limits

class Limit:
    """How fast `call` does an `amount` of something, each time and at best."""
    best = 0.0

    def sample(self):
        rate = self.amount / timed(self.call)
        self.best = max(self.best, rate)
        return rate

    def take_turn(self, time_call, calls=None):
        """The seconds of so many calls one after the other, or of several if they
        are short."""
        seconds = [time_call()]
        while len(seconds) < calls if calls else sum(seconds) < TURN_SECONDS:
            seconds.append(time_call())
        return seconds


class Peak(Limit):
    """Operations in a second, over as long as a turn: clocks change from one
    millisecond to the next, and of short samples the best is never kept up."""

    def __init__(self, kind, folder):
        function, _ = compile_kernel(peak_text(kind), kind, folder, "peak-" + kind)
        memory = describe(np.zeros(LANES[kind], np.float32))
        self.count = 100000
        self.call = lambda: function(ctypes.c_int64(self.count), ctypes.byref(memory))
        self.call()
        self.count = int(self.count * TURN_SECONDS / timed(self.call))
        self.amount = (4 if kind == "dots" else 2) * LANES[kind] * SUMS[kind] * self.count


READ = """
func.func @kernel(%x: memref<?xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant dense<0.0> : vector<64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%a = %z) -> vector<64xf32> {
    %v = vector.load %x[%i] : memref<?xf32>, vector<64xf32>
    %b = arith.addf %a, %v : vector<64xf32>
    scf.yield %b : vector<64xf32>
  }
  vector.store %s, %y[%c0] : memref<64xf32>, vector<64xf32>
  return
}
"""


@functools.cache
def get_other_memory():
    return np.ones(1 << 26, np.int32)


def clear_caches():
    get_other_memory().sum()


class Memory(Limit):
    """Bytes in a second, where so many are read, or read and written, as a case
    has. Each time starts with nothing of it in the caches: what these keep from
    one to the next is a matter of chance."""

    def __init__(self, kind, folder, size):
        copies = kind == "copy"
        count = max(size // (8 if copies else 4) // 64, 1) * 64
        self.array = aligned(np.ones(count, np.float32))
        self.target = aligned(np.zeros(count if copies else 64, np.float32))
        if copies:
            self.amount, self.call = 2 * self.array.nbytes, lambda: np.copyto(self.target, self.array)
            return
        function, _ = compile_kernel(READ, "native", folder, "read")
        memory = describe(self.array), describe(self.target)
        self.amount, self.call = self.array.nbytes, lambda: function(*(ctypes.byref(m) for m in memory))

    def sample(self):
        clear_caches()
        return super().sample()

    def take_turn(self, time_call, calls=None):
        clear_caches()
        return [time_call()]


class Limits:
    """What limits kernels, each made once: "native" or "avx2" multiply-adds or
    "dots" of pairs of bf16 in FLOP/s, or bytes that are "read" or "copy"ed in a
    second."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def get(self, kernel):
        is_memory = kernel.limit in ("read", "copy")
        key = (kernel.limit, kernel.work if is_memory else None)
        if key not in self.made:
            self.made[key] = (Memory(kernel.limit, self.folder, kernel.work) if is_memory
                              else Peak(kernel.limit, self.folder))
        return self.made[key]


# ---- timing

class Kernel:
    """A compiled case and its calls so far. `work` is what a call does, in what
    the limit counts; `error` of its results is at most `bound`."""

    def __init__(self, name, limit, work, call, compile_seconds):
        self.name, self.limit, self.work, self.call = name, limit, work, call
        self.compile_seconds, self.seconds, self.ratios = compile_seconds, [], []
        self.error = self.bound = None

    def run(self, limit):
        sample = limit.sample()
        seconds = limit.take_turn(lambda: timed(self.call))
        self.seconds += seconds
        self.ratios += [self.work / s / sample for s in seconds]

    def report(self, limit):
        best = min(self.seconds)
        return {"case": self.name, "limit": self.limit, "limit_g": limit.best * 1e-9,
                "share": self.work / best / limit.best, "median_share": statistics.median(self.ratios), "ms": best * 1e3,
                "error": float(self.error), "compile_s": self.compile_seconds}


def time_kernels(kernels, limits, rounds):
    """In turn, each right after a sample of its limit."""
    for _ in range(max(rounds, 7)):
        for kernel in kernels:
            kernel.run(limits.get(kernel))


def run_cases(description, default, make_kernel):
    """The command line: make_kernel(text, folder, number) compiles and checks one
    case; all are then timed and printed."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=default)
    parser.add_argument("--rounds", type=int, default=15, help="turns of each case (at least 7)")
    parser.add_argument("--json", help="append a line for each case to this file")
    parser.add_argument("--keep", help="leave IR and libraries in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        folder = args.keep or folder
        kernels = [make_kernel(text, folder, i) for i, text in enumerate(args.cases or default)]
        for kernel in kernels:
            if not kernel.error <= kernel.bound:
                sys.exit(f"{kernel.name}: error {kernel.error:.1e} of the largest result is over {kernel.bound:.1e}")
        limits = Limits(folder)
        time_kernels(kernels, limits, args.rounds)
    print(f"{'case':44} {'limit':>6} {'G/s':>6} {'share':>6} {'median':>6} {'ms':>9} {'error':>8} {'compile':>8}")
    for r in (kernel.report(limits.get(kernel)) for kernel in kernels):
        print(f"{r['case']:44} {r['limit']:>6} {r['limit_g']:6.1f} {r['share']:6.3f} {r['median_share']:6.3f} {r['ms']:9.2f} "
              f"{r['error']:8.1e} {r['compile_s']:7.2f}s")
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps(r) + "\n")
