"""Models compiled in this process."""

import ctypes
import os
from typing import NamedTuple

import numpy as np

from . import _library
from ._library import lib


class CompileError(ValueError):
    """The model or an option is at fault; the text holds all diagnostics."""


class ValueSpec(NamedTuple):
    """One argument or result of an entry."""

    type: str
    """The type as MLIR prints it."""
    dtype: np.dtype
    """Its elements; uint16 (the bits) for bf16."""
    shape: tuple
    """The sizes, None where any size will do; () for a number."""
    is_scalar: bool
    """Whether it is a number instead of an array."""
    is_writable: bool
    """Whether a call may change the array that is passed."""
    is_bf16: bool
    """Whether `dtype` holds the bits of bf16."""

    def __str__(self):
        return self.type


def _to_spec(spec):
    shape = tuple(n if n >= 0 else None for n in spec.shape[: spec.rank])
    return ValueSpec(
        spec.type.decode(),
        np.dtype(_library.DTYPES[spec.dtype]),
        shape,
        spec.is_scalar,
        spec.is_writable,
        spec.dtype == _library.BF16,
    )


def _convert_number(number, spec, where):
    """A number of `spec`, which must be able to hold it."""
    with np.errstate(over="ignore"):
        converted = number.astype(spec.dtype)
    is_kept = converted == number if spec.dtype.kind in "iu" else (
        np.isfinite(converted) == np.isfinite(number)
    )
    if not is_kept:
        raise ValueError(f"{where}: {number[()]} is out of the range of {spec}")
    return converted


def _as_array(value, spec, where):
    """`value` as an array of the type that `spec` asks for."""
    if spec.is_scalar and not isinstance(value, np.ndarray):
        converted = np.asarray(value)
        if converted.ndim == 0 and np.can_cast(converted.dtype, spec.dtype, "same_kind"):
            return _convert_number(converted, spec, where)
        raise TypeError(f"{where}: expected {spec}, got {value!r}")
    if not isinstance(value, np.ndarray):
        if not hasattr(value, "__dlpack__"):
            kind = type(value).__name__
            raise TypeError(f"{where}: expected an array for {spec}, got {kind}")
        value = np.from_dlpack(value)
    if spec.is_bf16 and value.dtype.name == "bfloat16":
        value = value.view(np.uint16)
    if value.dtype != spec.dtype:
        raise TypeError(f"{where}: expected {spec}, got dtype {value.dtype}")
    return value


def _prepare(value, spec, where):
    """The array to pass for `value`: itself wherever that is possible."""
    array = _as_array(value, spec, where)
    fits = array.size == 1 if spec.is_scalar else (
        array.ndim == len(spec.shape)
        and all(n in (None, m) for n, m in zip(spec.shape, array.shape))
    )
    if not fits:
        raise ValueError(f"{where}: expected {spec}, got shape {array.shape}")
    is_direct = array.flags.c_contiguous and array.flags.aligned
    if spec.is_writable and not (is_direct and array.flags.writeable):
        raise ValueError(
            f"{where}: {spec} may be written to, which needs a writable, "
            "C-contiguous array"
        )
    return array if is_direct else np.require(array, requirements=["C", "A"])


class Entry:
    """A function of a compiled model. Call it with NumPy arrays.

    Arguments are arrays of exactly the dtype and shape that `args` states;
    anything with `__dlpack__` will do (PyTorch CPU tensors), Python numbers for
    scalars, uint16 bits or `ml_dtypes.bfloat16` for bf16. C-contiguous arrays
    are passed without a copy, and are not written to unless `is_writable` says
    so. The result is an array (a tuple of them if there are several, None if
    there is none) that owns its memory; bf16 comes as its uint16 bits.

    Raises TypeError for a wrong number of arguments, kind or dtype, and
    ValueError for a wrong shape or a number out of range. Calls release the GIL and may run at the same
    time.
    """

    def __init__(self, executable, index, name):
        handle = executable._handle
        self._executable, self._index = executable, index
        self.__name__ = name
        self.args = tuple(
            _to_spec(lib.ropeExecutableGetArg(handle, index, i))
            for i in range(lib.ropeExecutableGetNumArgs(handle, index))
        )
        self.results = tuple(
            _to_spec(lib.ropeExecutableGetResult(handle, index, i))
            for i in range(lib.ropeExecutableGetNumResults(handle, index))
        )

    def __repr__(self):
        args = ", ".join(map(str, self.args))
        results = ", ".join(map(str, self.results))
        return f"<entry {self.__name__}({args}) -> ({results})>"

    def __call__(self, *values):
        if len(values) != len(self.args):
            raise TypeError(
                f"{self.__name__} takes {len(self.args)} arguments, got {len(values)}"
            )
        arrays = [
            _prepare(value, spec, f"argument {i}")
            for i, (value, spec) in enumerate(zip(values, self.args))
        ]
        # The codes come from the signature: NumPy has one uint16 for two types.
        buffers = (_library.Buffer * len(arrays))()
        for i, array in enumerate(arrays):
            code = lib.ropeExecutableGetArg(self._executable._handle, self._index, i)
            buffers[i] = _library.to_buffer(array, code.dtype)
        results = (_library.Handle * len(self.results))()
        with (error := _library.ErrorText()) as pointer:
            succeeded = lib.ropeExecutableInvoke(
                self._executable._handle,
                self._index,
                buffers,
                len(arrays),
                results,
                pointer,
            )
        if not succeeded:
            raise ValueError(error.text)
        outputs = tuple(
            _library.to_numpy(_library.Handle(handle.ptr)) for handle in results
        )
        outputs = tuple(
            output[()] if spec.is_scalar else output
            for output, spec in zip(outputs, self.results)
        )
        return outputs[0] if len(outputs) == 1 else outputs or None


class Executable:
    """A compiled model. Its entries are attributes, and items of `entries`."""

    def __init__(self, handle):
        self._handle = handle
        names = [
            lib.ropeExecutableGetEntryName(handle, i).decode()
            for i in range(lib.ropeExecutableGetNumEntries(handle))
        ]
        self.entries = {name: Entry(self, i, name) for i, name in enumerate(names)}

    def __getattr__(self, name):
        entries = self.__dict__.get("entries", {})
        if name in entries:
            return entries[name]
        known = ", ".join(entries) or "none"
        raise AttributeError(f"the model has no entry '{name}' (entries: {known})")

    def __getitem__(self, name):
        """The entry called `name`, for names that Python does not take."""
        return self.entries[name]

    def __dir__(self):
        return [*super().__dir__(), *self.entries]

    def __repr__(self):
        return f"<rope_mlir.Executable with {', '.join(self.entries) or 'no entries'}>"

    def __del__(self):
        lib.ropeExecutableDestroy(self._handle)


def _read(source):
    """The text of a model, and the name that stands for it in messages."""
    if isinstance(source, bytes):
        return source, "<model>"
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source.encode(), "<model>"
    path = os.fspath(source)
    with open(path, "rb") as file:
        return file.read(), os.fsdecode(path)


def _to_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def compile(
    source, *, target="native", features="", opt_level=2, portable=False, **options
):
    """Compiles a model for this machine.

    source     the text of an MLIR module (str, or bytes, also bytecode), or the
               path of a file with one
    target     a processor as LLVM names it, "native" or "generic"
    features   more processor features: "+avx2,-fma"
    opt_level  LLVM's optimization level, 0 to 3
    portable   lower plainly, by upstream loops: the yardstick of optimised code
    options    options of rope-cpu-pipeline, with _ for -: runtime_checks=True

    Returns an Executable. Raises CompileError with all diagnostics when the
    model or an option is at fault, and OSError when the file cannot be read.
    """
    text, name = _read(source)
    flags = " ".join(f"{k.replace('_', '-')}={_to_text(v)}" for k, v in options.items())
    if not 0 <= opt_level <= 3:
        raise CompileError(f"unknown optimization level {opt_level}, expected 0 to 3")
    settings = _library.CompileOptions(
        target.encode(), features.encode(), flags.encode(), opt_level, portable
    )
    with (error := _library.ErrorText()) as pointer:
        handle = lib.ropeExecutableCompile(
            text, len(text), name.encode(), ctypes.byref(settings), pointer
        )
    if not handle.ptr:
        raise CompileError(error.text)
    return Executable(handle)
