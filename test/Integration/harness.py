"""What the integration tests share: running a module by rope-run, and rotations
by their formula in f64, not by the dialect's own code."""

import os
import subprocess
import sys
import tempfile

import numpy as np


def run(text, *inputs):
    """Calls @main of the module `text`; the list of its results. The tool rope-run
    is looked for on PATH."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("model.mlir"), "w") as file:
            file.write(text)
        np.savez(path("in.npz"), **{f"in{i}": np.asarray(x) for i, x in enumerate(inputs)})
        subprocess.run(["rope-run", path("model.mlir"), path("in.npz"), "--save=" + path("out.npz")],
                       check=True, stdout=subprocess.DEVNULL)
        results = np.load(path("out.npz"))
        return [results[f"out{i}"] for i in range(len(results.files))]


def check(name, got, want, bound):
    """Prints the largest error; exits with status 1 if it is over the bound."""
    error = np.abs(got.astype(np.float64) - want).max()
    print(f"{name}: {error:.2e}")
    if not (got.shape == want.shape and error <= bound):
        sys.exit(f"{name}: error {error} of shape {got.shape} is over {bound}")


def rotate(x, angle, magnitude=1.0, pairing="half", offset=0):
    """Turns the channels from `offset` on of x [..., D] by angle [..., pairs]."""
    pairs = angle.shape[-1]
    y = np.broadcast_to(x, np.broadcast_shapes(x.shape[:-1], angle.shape[:-1]) + x.shape[-1:])
    y = y.astype(np.float64)
    part = y[..., offset:offset + 2 * pairs]
    first, second = ((slice(0, pairs), slice(pairs, None)) if pairing == "half"
                     else (slice(0, None, 2), slice(1, None, 2)))
    u, v = part[..., first].copy(), part[..., second].copy()
    cos, sin = magnitude * np.cos(angle), magnitude * np.sin(angle)
    part[..., first], part[..., second] = u * cos - v * sin, v * cos + u * sin
    return y
