"""Finds libRopeC.so and declares its functions for ctypes."""

import ctypes
import ctypes.util
import os

import numpy as np

# RopeDType, in the order of rope-c/Support.h. bf16 has no type in NumPy: its
# bits are kept in uint16.
DTYPES = [
    np.float16,
    np.uint16,
    np.float32,
    np.float64,
    np.bool_,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.complex64,
    np.complex128,
]
BF16, F64, BOOL, I64 = 1, 3, 4, 8


class LibraryNotFound(ImportError):
    """libRopeC.so is nowhere to be found."""


class Buffer(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
    ]


class Handle(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p)]


class CompileOptions(ctypes.Structure):
    _fields_ = [
        ("target_cpu", ctypes.c_char_p),
        ("target_features", ctypes.c_char_p),
        ("pipeline_options", ctypes.c_char_p),
        ("opt_level", ctypes.c_uint32),
        ("portable", ctypes.c_bool),
    ]


class ValueSpec(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int),
        ("is_scalar", ctypes.c_bool),
        ("is_writable", ctypes.c_bool),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("type", ctypes.c_char_p),
    ]


class Rotation(ctypes.Structure):
    _fields_ = [
        ("table", Buffer),
        ("read", ctypes.c_int),
        ("write", ctypes.c_int),
        ("offset", ctypes.c_int64),
        ("distance", ctypes.c_int64),
        ("along", ctypes.POINTER(ctypes.c_int64)),
        ("num_along", ctypes.c_int64),
        ("full", ctypes.c_bool),
    ]


class AttentionInputs(ctypes.Structure):
    _fields_ = [
        ("query", Buffer),
        ("key", Buffer),
        ("value", Buffer),
        ("scale", ctypes.c_double),
        ("mask", ctypes.POINTER(Buffer)),
        ("query_pos", ctypes.POINTER(Buffer)),
        ("key_pos", ctypes.POINTER(Buffer)),
        ("key_length", ctypes.POINTER(Buffer)),
        ("sink", ctypes.POINTER(Buffer)),
        ("causal", ctypes.c_bool),
        ("window_left", ctypes.c_int64),
        ("window_right", ctypes.c_int64),
        ("softcap", ctypes.c_double),
        ("rotate_query", ctypes.POINTER(Rotation)),
        ("rotate_key", ctypes.POINTER(Rotation)),
        ("rotate_value", ctypes.POINTER(Rotation)),
        ("rerotate_output", ctypes.POINTER(Rotation)),
    ]


class LinearAttentionInputs(ctypes.Structure):
    _fields_ = [
        ("query", Buffer),
        ("key", Buffer),
        ("value", Buffer),
        ("feature_map", ctypes.c_int),
        ("causal", ctypes.c_bool),
        ("normalize", ctypes.c_bool),
        ("normalizer_eps", ctypes.c_double),
        ("rotate_query", ctypes.POINTER(Rotation)),
        ("rotate_key", ctypes.POINTER(Rotation)),
        ("kv_state", ctypes.POINTER(Buffer)),
        ("k_sum", ctypes.POINTER(Buffer)),
    ]


_ERROR = ctypes.POINTER(ctypes.c_void_p)
_INT64S = ctypes.POINTER(ctypes.c_int64)
_PROTOTYPES = {
    "ropeArrayGetBuffer": (Buffer, [Handle]),
    "ropeArrayDestroy": (None, [Handle]),
    "ropeStringDestroy": (None, [ctypes.c_void_p]),
    "ropeCompileOptionsGetDefault": (CompileOptions, []),
    "ropeExecutableCompile": (
        Handle,
        [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.POINTER(CompileOptions),
            _ERROR,
        ],
    ),
    "ropeExecutableDestroy": (None, [Handle]),
    "ropeExecutableGetNumEntries": (ctypes.c_size_t, [Handle]),
    "ropeExecutableGetEntryName": (ctypes.c_char_p, [Handle, ctypes.c_size_t]),
    "ropeExecutableGetNumArgs": (ctypes.c_size_t, [Handle, ctypes.c_size_t]),
    "ropeExecutableGetArg": (ValueSpec, [Handle, ctypes.c_size_t, ctypes.c_size_t]),
    "ropeExecutableGetNumResults": (ctypes.c_size_t, [Handle, ctypes.c_size_t]),
    "ropeExecutableGetResult": (ValueSpec, [Handle, ctypes.c_size_t, ctypes.c_size_t]),
    "ropeExecutableInvoke": (
        ctypes.c_bool,
        [
            Handle,
            ctypes.c_size_t,
            ctypes.POINTER(Buffer),
            ctypes.c_size_t,
            ctypes.POINTER(Handle),
            _ERROR,
        ],
    ),
    "ropeGetFrequencies": (
        Handle,
        [
            ctypes.c_char_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_double),
            _ERROR,
        ],
    ),
    "ropeReferenceTable": (
        Handle,
        [
            Buffer,
            ctypes.POINTER(ctypes.c_double),
            ctypes.c_int64,
            ctypes.c_double,
            _INT64S,
            ctypes.c_int,
            _ERROR,
        ],
    ),
    "ropeReferenceAssemble": (Handle, [Buffer, Buffer, _ERROR]),
    "ropeReferenceCompose": (Handle, [Buffer, Buffer, ctypes.c_bool, _ERROR]),
    "ropeReferenceRotate": (
        Handle,
        [Buffer, ctypes.POINTER(Rotation), ctypes.c_bool, _ERROR],
    ),
    "ropeReferenceAttention": (
        ctypes.c_bool,
        [ctypes.POINTER(AttentionInputs)] + 2 * [ctypes.POINTER(Handle)] + [_ERROR],
    ),
    "ropeReferenceLinearAttention": (
        ctypes.c_bool,
        [ctypes.POINTER(LinearAttentionInputs)]
        + 3 * [ctypes.POINTER(Handle)]
        + [_ERROR],
    ),
}

_NAME = "libRopeC.so"


def _candidates():
    """Where the library may be, the most specific place first."""
    if os.environ.get("ROPE_C_LIBRARY"):
        yield os.environ["ROPE_C_LIBRARY"]
        return
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, _NAME)
    # In a build tree the package is a link beside lib. dirname goes up from the
    # link, ".." would go up from what it points to.
    yield os.path.join(os.path.dirname(os.path.dirname(here)), "lib", _NAME)
    installed = ctypes.util.find_library("RopeC")
    if installed:
        yield installed


def _load():
    for path in _candidates():
        if os.path.exists(path) or os.path.basename(path) == path:
            break
    else:
        raise LibraryNotFound(
            f"{_NAME} is not at {path}: build it by tools/dev build, "
            "or set ROPE_C_LIBRARY to its path"
        )
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryNotFound(f"cannot load {path}: {error}") from None
    for name, (result, arguments) in _PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryNotFound(f"{path} is another library: it has no {name}") from None
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


class ErrorText:
    """Receives the `char **error` of a call."""

    def __init__(self):
        self._pointer = ctypes.c_void_p()

    def __enter__(self):
        return ctypes.byref(self._pointer)

    def __exit__(self, *_):
        self.text = ""
        if self._pointer:
            self.text = ctypes.string_at(self._pointer).decode(errors="replace")
            lib.ropeStringDestroy(self._pointer)


class _Owner:
    """The memory of an array of the library, freed with the last view."""

    def __init__(self, handle):
        self._handle = handle
        buffer = lib.ropeArrayGetBuffer(handle)
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(buffer.shape[: buffer.rank]),
            "typestr": np.dtype(DTYPES[buffer.dtype]).str,
            "data": (buffer.data, False),
        }

    def __del__(self):
        lib.ropeArrayDestroy(self._handle)


def to_numpy(handle):
    """The array behind a handle, which it takes over, without a copy."""
    return np.asarray(_Owner(handle))


def to_buffer(array, dtype):
    """Describes a C-contiguous array as a RopeBuffer. Keep both alive."""
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    pointer = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    return Buffer(dtype, array.ndim, pointer, array.ctypes.data)
