"""Compiles a model, calls it on its inputs and compares with the framework.

    run_model.py FOLDER... [--options PIPELINE-OPTIONS] [--time N]

A folder holds model.mlir and either data.npz (in0.., out0..: the arguments and
what the framework computed from them in f64) or, where those would be large,
inputs.json (how to draw the arguments) and sample.npz (values of the results
at some positions). models.json beside this script holds the bound of each on
max |error| / max |expected|. rope-opt, mlir-translate and clang are looked for
on PATH. Exit status 1 if a model is above its bound.
"""

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# bf16 and f16 arrive as their bits where NumPy has no type for them.
STORAGE = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "uint16",
           "i64": "int64", "i32": "int32", "i1": "bool", "complex<f32>": "complex64"}


def parse_types(text):
    """Splits 'tensor<2x?xf32>, i64' into (rank, element type) pairs; the rank
    of a scalar is None."""
    types = []
    for shape, element, scalar in re.findall(
            r"tensor<((?:[\d?]+x)*)(complex<f32>|\w+)>|\b([if]\d+|index)\b", text):
        types.append((None, scalar) if scalar else (shape.count("x"), element))
    return types


def parse_entry(text):
    """Name, argument types and result types of the one public function, and
    the text with a C interface asked for."""
    head = re.search(r"func\.func (?:public )?@(\w+)\((.*?)\) -> (.*?) (attributes )?\{\n", text)
    name, arguments, results = head.group(1), head.group(2), head.group(3)
    head_end = head.start(4) if head.group(4) else head.end() - 2
    if head.group(4):
        raise SystemExit("a function with attributes: write the C interface into the model")
    text = text[:head_end] + "attributes {llvm.emit_c_interface} " + text[head_end:]
    return name, parse_types(arguments), parse_types(results), text


def descriptor(rank):
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type("MemRef%d" % rank, (ctypes.Structure,), {"_fields_": fields})


def pass_array(array):
    """A descriptor of array, which has to outlive it."""
    d = descriptor(array.ndim)(array.ctypes.data, array.ctypes.data, 0)
    for i in range(array.ndim):
        d.sizes[i] = array.shape[i]
        d.strides[i] = array.strides[i] // array.itemsize
    return d


def take_array(d, rank, dtype):
    """A copy of what the descriptor holds; its buffer is freed."""
    sizes = list(d.sizes) if rank else []
    strides = [s * dtype.itemsize for s in d.strides] if rank else []
    count = 1 + sum((n - 1) * s for n, s in zip(sizes, d.strides)) if rank else 1
    if 0 in sizes:
        count = 0
    raw = (ctypes.c_char * (count * dtype.itemsize)).from_address(d.aligned + d.offset * dtype.itemsize)
    array = np.lib.stride_tricks.as_strided(np.frombuffer(raw, dtype), sizes, strides).copy()
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(d.allocated)
    return array


def compile_model(text, options, folder):
    pipeline = "--rope-cpu-pipeline" + ("=" + options if options else "")
    llvm = subprocess.run(["rope-opt", pipeline], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    ir, library = os.path.join(folder, "model.ll"), os.path.join(folder, "model.so")
    subprocess.run(["mlir-translate", "--mlir-to-llvmir", "-o", ir], input=llvm, check=True)
    subprocess.run(["clang", "-w", "-O3", "-march=native", "-shared", "-fPIC", "-x", "ir", ir, "-o", library,
                    "-lm"], check=True)
    return library


def draw(specification):
    """The arguments of a folder without data.npz: NumPy's PCG64 stream, one
    child seed for each argument."""
    arrays = []
    for i, s in enumerate(specification):
        generator = np.random.Generator(np.random.PCG64([7, i]))
        if s["dist"] == "normal":
            array = generator.standard_normal(s["shape"]) * s["scale"]
        elif s["dist"] == "ones":
            array = np.ones(s["shape"])
        else:  # positions 0, 1, ...
            array = np.broadcast_to(np.arange(s["shape"][-1]), s["shape"])
        arrays.append(array.astype(s["dtype"]))
    return arrays


def read_case(folder, results):
    """Arguments, and for each result the positions (or None) and the values."""
    whole = os.path.join(folder, "data.npz")
    if os.path.exists(whole):
        data = np.load(whole)
        inputs = [data[k] for k in sorted((k for k in data if k.startswith("in")), key=lambda k: int(k[2:]))]
        return inputs, [(None, data["out%d" % i]) for i in range(results)]
    sample = np.load(os.path.join(folder, "sample.npz"))
    with open(os.path.join(folder, "inputs.json")) as f:
        inputs = draw(json.load(f))
    return inputs, [(sample["pos%d" % i], sample["val%d" % i]) for i in range(results)]


def call(library, name, arguments, results, inputs, times):
    function = getattr(ctypes.CDLL(library), "_mlir_ciface_" + name)
    arrays = [np.ascontiguousarray(x if x.dtype == STORAGE[t] else x.astype(STORAGE[t]))
              for x, (_, t) in zip(inputs, arguments)]
    passed = [pass_array(x) for x in arrays]
    fields = [("r%d" % i, descriptor(rank)) for i, (rank, _) in enumerate(results)]
    Results = type("Results", (ctypes.Structure,), {"_fields_": fields})
    best = None
    for _ in range(times):
        returned = Results()
        start = time.perf_counter()
        function(ctypes.byref(returned), *[ctypes.byref(d) for d in passed])
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
        outputs = [take_array(getattr(returned, "r%d" % i), rank, np.dtype(STORAGE[t]))
                   for i, (rank, t) in enumerate(results)]
    return outputs, best


def widen(array, element):
    if element == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def relative_error(got, want):
    finite = np.isfinite(want)
    if got.shape != want.shape or (np.isfinite(got) != finite).any():
        return float("inf")
    scale = np.abs(want[finite]).max(initial=0) or 1
    return float(np.abs(got - want)[finite].max(initial=0) / scale)


def run(folder, options, times):
    """Largest relative error, seconds to compile, seconds of the best call."""
    with open(os.path.join(folder, "model.mlir")) as f:
        name, arguments, results, text = parse_entry(f.read())
    inputs, expected = read_case(folder, len(results))
    with tempfile.TemporaryDirectory() as work:
        start = time.perf_counter()
        library = compile_model(text, options, work)
        compiling = time.perf_counter() - start
        outputs, calling = call(library, name, arguments, results, inputs, times)
    error = 0.0
    for output, (_, element), (positions, want) in zip(outputs, results, expected):
        got = widen(output, element)
        got = got if positions is None else got.reshape(-1)[positions]
        error = max(error, relative_error(got, widen(want, None if want.dtype.kind == "f" else element)))
    return error, compiling, calling


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--options", default="", help="options of rope-cpu-pipeline")
    parser.add_argument("--time", type=int, default=1, metavar="N", help="report the best of N calls")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "models.json")) as f:
        models = json.load(f)
    failures = 0
    for folder in arguments.folders:
        name = os.path.basename(os.path.normpath(folder))
        error, compiling, calling = run(folder, arguments.options, arguments.time)
        bound = models[name]["bound"]
        verdict = "ok" if error <= bound else "TOO LARGE"
        failures += error > bound
        print("%-30s error %.2e, bound %.2e: %s; compiled in %.2f s, ran in %.3f ms"
              % (name, error, bound, verdict, compiling, calling * 1e3))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
