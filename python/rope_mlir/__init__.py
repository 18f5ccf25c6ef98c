"""Compile transformer models given as MLIR, and call them with NumPy arrays.

    import numpy as np, rope_mlir

    model = rope_mlir.compile("layer.mlir")
    print(model.entries)
    y = model.main(np.zeros((1, 16, 64), np.float32))

`reference` evaluates the ops of the rope dialect in f64 by plain loops, and
`frequencies` the schedules of rotary embeddings.
"""

from . import frequencies, reference
from ._library import LibraryNotFound
from .executable import CompileError, Entry, Executable, ValueSpec, compile

__all__ = [
    "CompileError",
    "Entry",
    "Executable",
    "LibraryNotFound",
    "ValueSpec",
    "compile",
    "frequencies",
    "reference",
]
