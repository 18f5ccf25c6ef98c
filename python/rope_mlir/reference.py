"""The ops of the rope dialect in f64, by plain loops.

The oracle that compiled code is checked with: written from the formulas, slow,
and exact to about an f64 rounding. Arrays are converted to f64 (positions,
lengths and positions in masks to i64) and results are f64.

Extents: b batches, h key heads, g query heads per key head, m queries, n keys,
d channels of queries and keys, e of values. A table has the shape
[lead…, 2, P]: plane 0 is a·cos, plane 1 is a·sin, for each of P pairs.

What cannot be evaluated raises ValueError with the reason.
"""

import ctypes
from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence

import numpy as np

from . import _library
from ._library import lib

_MODES = ("exact", "f32_angle", "f32_quotient")
_PAIRINGS = ("half", "interleaved")
_FEATURE_MAPS = ("identity", "elu_plus_one", "relu", "exp")


class _Call:
    """Operands of one call, kept alive until it is over."""

    def __init__(self):
        self._kept = []

    def _keep(self, value):
        self._kept.append(value)
        return value

    def buffer(self, array, dtype=_library.F64):
        array = np.asarray(array)
        if dtype == _library.I64 and array.dtype.kind not in "iub":
            raise TypeError(f"positions and lengths are integers, not {array.dtype}")
        array = self._keep(np.require(array, _library.DTYPES[dtype], ["C", "A"]))
        return self._keep(_library.to_buffer(array, dtype))

    def optional(self, array, dtype=_library.F64):
        return None if array is None else ctypes.pointer(self.buffer(array, dtype))

    def integers(self, values):
        values = list(values)
        return self._keep((ctypes.c_int64 * len(values))(*values))

    def rotation(self, rotation, rank, dims=None):
        """`dims` maps the caller's dims to those of the evaluator."""
        if rotation is None:
            return None
        table = np.asarray(rotation.table)
        along = rotation.along
        if along is None:
            # The dims just before the channels.
            lead = max(table.ndim - 2, 0)
            along = range(rank - 1 - lead, rank - 1)
        if dims:
            along = [_map_dim(dims, dim) for dim in along]
        along = self.integers(along)
        read = _index(_PAIRINGS, rotation.pairing, "pairing")
        write = read if rotation.to is None else _index(_PAIRINGS, rotation.to, "pairing")
        return ctypes.pointer(
            self._keep(
                _library.Rotation(
                    self.buffer(table),
                    read,
                    write,
                    rotation.offset,
                    -1 if rotation.distance is None else rotation.distance,
                    ctypes.cast(along, ctypes.POINTER(ctypes.c_int64)),
                    len(along),
                    rotation.full,
                )
            )
        )


def _index(names, name, what):
    if name not in names:
        raise ValueError(f"unknown {what} '{name}', expected {' or '.join(names)}")
    return names.index(name)


def _map_dim(dims, dim):
    if dim not in dims:
        raise ValueError(
            f"a table cannot follow dim {dim} of merged heads: pass [b, h, g, m, d]"
        )
    return dims[dim]


def _run(function, *arguments):
    """Calls a function that returns one array."""
    with (error := _library.ErrorText()) as pointer:
        handle = function(*arguments, pointer)
    if not handle.ptr:
        raise ValueError(error.text)
    return _library.to_numpy(handle)


def _run_on(function, inputs, count):
    """Calls a function that takes a struct and writes so many arrays."""
    handles = [_library.Handle() for _ in range(count)]
    with (error := _library.ErrorText()) as pointer:
        succeeded = function(
            ctypes.byref(inputs), *map(ctypes.byref, handles), pointer
        )
    if not succeeded:
        raise ValueError(error.text)
    return [_library.to_numpy(handle) for handle in handles]


@dataclass
class Rotation:
    """A table and how it turns the last dim of an operand (`#rope.rotary`)."""

    table: np.ndarray
    """[lead…, 2, W]"""
    pairing: str = "half"
    """Of the channels read: "half" (o + i, o + i + distance) or "interleaved"
    (o + 2i, o + 2i + 1)."""
    to: Optional[str] = None
    """The pairing of the channels written, if it differs."""
    offset: int = 0
    """o, the first channel that turns."""
    distance: Optional[int] = None
    """For the half pairing; as many as there are pairs unless given."""
    along: Optional[Sequence[int]] = None
    """The operand's dims which the leading dims of the table follow; those just
    before the channels unless given."""
    full: bool = False
    """The table has an entry for each channel instead of each pair."""


def table(positions, frequencies, *, magnitude=None, axes=None, mode="exact"):
    """`rope.table`: a·cos and a·sin of position times frequency.

    positions    tokens, integers or fractions, [lead…]; [A, lead…] with `axes`
    frequencies  what a function of `rope_mlir.frequencies` returns, or radians
                 per token [P]
    magnitude    a; that of the frequencies, or 1, unless given
    axes         the position axis 0 … A − 1 of each pair
    mode         "exact", "f32_angle" or "f32_quotient"

    Returns [lead…, 2, P].
    """
    if hasattr(frequencies, "magnitude"):
        magnitude = frequencies.magnitude if magnitude is None else magnitude
        frequencies = frequencies.values
    values = np.ascontiguousarray(frequencies, np.float64)
    if values.ndim != 1:
        raise ValueError(f"frequencies must be a vector, not of shape {values.shape}")
    if axes is not None and len(axes) != len(values):
        raise ValueError(f"{len(axes)} axes for {len(values)} pairs")
    positions = np.asarray(positions)
    is_whole = positions.dtype.kind in "iub"
    call = _Call()
    return _run(
        lib.ropeReferenceTable,
        call.buffer(positions, _library.I64 if is_whole else _library.F64),
        values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        len(values),
        1.0 if magnitude is None else magnitude,
        None if axes is None else call.integers(axes),
        _index(_MODES, mode, "mode"),
    )


def assemble(cos, sin):
    """`rope.assemble`: cos and sin [lead…, W] → [lead…, 2, W]."""
    call = _Call()
    return _run(lib.ropeReferenceAssemble, call.buffer(cos), call.buffer(sin))


def compose(lhs, rhs, inverse=False):
    """`rope.compose`: the table of the sum of two angles, or of the difference.
    Magnitudes multiply, or divide."""
    call = _Call()
    return _run(
        lib.ropeReferenceCompose, call.buffer(lhs), call.buffer(rhs), inverse
    )


def _rotate(x, rotation, options, back):
    if not isinstance(rotation, Rotation):
        rotation = Rotation(rotation, **options)
    elif options:
        raise TypeError("options belong into the Rotation")
    call, x = _Call(), np.asarray(x)
    return _run(
        lib.ropeReferenceRotate, call.buffer(x), call.rotation(rotation, x.ndim), back
    )


def rotate(x, rotation, **options):
    """`rope.rotate`: turns the channel pairs (u, v) of the last dim of `x` to
    (u·c − v·s, v·c + u·s). `rotation` is a Rotation, or a table with the
    Rotation's options. Returns the shape of `x`."""
    return _rotate(x, rotation, options, False)


def rerotate(x, rotation, **options):
    """`rope.rerotate`: the opposite turn."""
    return _rotate(x, rotation, options, True)


class AttentionResult(NamedTuple):
    """What attention yields."""

    output: np.ndarray
    """The shape of the query, with e channels."""
    lse: np.ndarray
    """ln Σ exp(score), natural; the output's shape without channels."""


class LinearAttentionResult(NamedTuple):
    """What linear attention yields."""

    output: np.ndarray
    """The shape of the query, with e channels."""
    kv_state: np.ndarray
    """[b, h, d, e], with the keys of this chunk."""
    k_sum: np.ndarray
    """[b, h, d], with the keys of this chunk."""


# Dims of [b, heads, m, d] as dims of [b, h, g, m, d].
_MERGED_DIMS = {0: 0, 2: 3}


def _split_heads(query, key):
    """The query as [b, h, g, m, d], and how its dims map to those."""
    query, key = np.asarray(query), np.asarray(key)
    if query.ndim != 4 or key.ndim != 4:
        return query, None
    b, heads, m, d = query.shape
    groups = key.shape[1]
    if groups == 0 or heads % groups:
        raise ValueError(f"{heads} query heads do not divide over {groups} key heads")
    return query.reshape(b, groups, heads // groups, m, d), _MERGED_DIMS


def _merge_heads(array, dims):
    if dims is None:
        return array
    b, h, g, *rest = array.shape
    return array.reshape(b, h * g, *rest)


def _split_mask(mask, shape):
    """A mask of [b, heads, m, n], or fewer dims in front, as [b, h, g, m, n]."""
    mask = np.asarray(mask)
    if mask.ndim < 5:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        b, heads, m, n = mask.shape
        split = (1, 1) if heads == 1 else shape[1:3]
        mask = mask.reshape(b, *split, m, n)
    return mask


def attention(
    query,
    key,
    value,
    *,
    scale=None,
    mask=None,
    query_pos=None,
    key_pos=None,
    key_length=None,
    sink=None,
    causal=False,
    window=None,
    softcap=None,
    rotate_query=None,
    rotate_key=None,
    rotate_value=None,
    rerotate_output=None,
):
    """`rope.attention`: softmax attention with rotations.

    query       [b, h, g, m, d], or [b, heads, m, d] with heads a multiple of h
    key         [b, h, n, d]
    value       [b, h, n, e]
    scale       of ⟨q, k⟩; 1/√d unless given
    mask        bool (True: visible) or float (added), [b, h, g, m, n] with 1
                where it repeats, or [b, heads, m, n], [m, n]
    query_pos   tokens [b, m], m unless given; key_pos [b, n] likewise
    key_length  [b]: only so many keys exist
    sink        [h, g] or [heads]: a logit that only enters the denominator
    causal      only keys with key_pos ≤ query_pos are visible
    window      (left, right): −right ≤ query_pos − key_pos ≤ left; −1 unbounded
    softcap     c: scores become c·tanh(s/c) before the mask
    rotate_*, rerotate_output  Rotations of the operands and the output

    A row without a visible key gives 0 and an lse of −inf. Returns
    AttentionResult(output, lse).
    """
    call = _Call()
    grouped, dims = _split_heads(query, key)
    if grouped.ndim != 5:
        raise ValueError(f"query must have 4 or 5 dims, not the shape {grouped.shape}")
    rank = 5 if dims is None else 4
    inputs = _library.AttentionInputs()
    inputs.query = call.buffer(grouped)
    inputs.key, inputs.value = call.buffer(key), call.buffer(value)
    inputs.scale = grouped.shape[-1] ** -0.5 if scale is None else scale
    if mask is not None:
        mask = _split_mask(mask, grouped.shape)
        inputs.mask = call.optional(
            mask, _library.BOOL if mask.dtype == np.bool_ else _library.F64
        )
    inputs.query_pos = call.optional(query_pos, _library.I64)
    inputs.key_pos = call.optional(key_pos, _library.I64)
    inputs.key_length = call.optional(key_length, _library.I64)
    if sink is not None:
        inputs.sink = call.optional(np.reshape(sink, grouped.shape[1:3]))
    inputs.causal = causal
    inputs.window_left, inputs.window_right = window or (-1, -1)
    inputs.softcap = softcap or 0
    inputs.rotate_query = call.rotation(rotate_query, rank, dims)
    inputs.rotate_key = call.rotation(rotate_key, 4)
    inputs.rotate_value = call.rotation(rotate_value, 4)
    inputs.rerotate_output = call.rotation(rerotate_output, rank, dims)
    output, lse = _run_on(lib.ropeReferenceAttention, inputs, 2)
    return AttentionResult(_merge_heads(output, dims), _merge_heads(lse, dims))


def linear_attention(
    query,
    key,
    value,
    *,
    feature_map="elu_plus_one",
    causal=False,
    normalizer_eps=0.0,
    rotate_query=None,
    rotate_key=None,
    kv_state=None,
    k_sum=None,
):
    """`rope.linear_attention`: a feature map in place of the softmax.

    query           [b, h, g, m, d], or [b, heads, m, d]
    key             [b, h, n, d]
    value           [b, h, n, e]
    feature_map     "elu_plus_one", "identity", "relu" or "exp"
    causal          query m sees the keys n ≤ m of the chunk
    normalizer_eps  added to the normaliser; None: do not divide
    rotate_query, rotate_key  Rotations of the features in the numerator
    kv_state, k_sum the states [b, h, d, e] and [b, h, d] of earlier chunks

    Returns LinearAttentionResult(output, kv_state, k_sum).
    """
    call = _Call()
    grouped, dims = _split_heads(query, key)
    inputs = _library.LinearAttentionInputs()
    inputs.query = call.buffer(grouped)
    inputs.key, inputs.value = call.buffer(key), call.buffer(value)
    inputs.feature_map = _index(_FEATURE_MAPS, feature_map, "feature map")
    inputs.causal = causal
    inputs.normalize = normalizer_eps is not None
    inputs.normalizer_eps = normalizer_eps or 0
    inputs.rotate_query = call.rotation(rotate_query, 5 if dims is None else 4, dims)
    inputs.rotate_key = call.rotation(rotate_key, 4)
    inputs.kv_state = call.optional(kv_state)
    inputs.k_sum = call.optional(k_sum)
    output, kv_state, k_sum = _run_on(lib.ropeReferenceLinearAttention, inputs, 3)
    return LinearAttentionResult(_merge_heads(output, dims), kv_state, k_sum)
