"""Schedules of rotary frequencies.

Each function returns `Frequencies(values, magnitude, attribute)` for so many
channel pairs P (d = 2P turning channels): the frequencies ω_i in radians per
token (f64, shape [P]), the factor a of cos and sin, and the schedule as the
attribute that `rope.table` takes. `theta` is the base θ, `factor` the scaling
f, `trained` the trained length L0 and `length` the current one, in tokens.

A schedule that cannot be evaluated raises ValueError.
"""

import ctypes
import math
from typing import NamedTuple

import numpy as np

from . import _library
from ._library import lib


class Frequencies(NamedTuple):
    """What a schedule yields."""

    values: np.ndarray
    """ω_i in radians per token, f64 [pairs]."""
    magnitude: float
    """The factor of cos and sin."""
    attribute: str
    """The schedule in MLIR."""


def _float(value):
    """A number in MLIR's syntax, exact."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value}")
    mantissa, e, exponent = repr(value).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def _floats(values):
    return "[" + ", ".join(map(_float, values)) + "]"


def _struct(name, **parameters):
    """An attribute with those parameters that are not None."""
    text = ", ".join(f"{k} = {v}" for k, v in parameters.items() if v is not None)
    return f"#rope.{name}<{text}>"


def _optional(value):
    return None if value is None else _float(value)


def evaluate(attribute, pairs, length=None):
    """Any schedule, given as an attribute: `#rope.linear<theta = …, factor = …>`."""
    magnitude = ctypes.c_double()
    with (error := _library.ErrorText()) as pointer:
        handle = lib.ropeGetFrequencies(
            attribute.encode(),
            pairs,
            -1 if length is None else length,
            ctypes.byref(magnitude),
            pointer,
        )
    if not handle.ptr:
        raise ValueError(error.text)
    return Frequencies(_library.to_numpy(handle), magnitude.value, attribute)


def default(pairs, theta=10000.0):
    """ω_i = θ^(−2i/d)."""
    return evaluate(f"#rope.default<{_float(theta)}>", pairs)


def linear(pairs, factor, theta=10000.0):
    """ω_i = θ^(−2i/d) / f: position interpolation."""
    return evaluate(
        _struct("linear", theta=_float(theta), factor=_float(factor)), pairs
    )


def ntk(pairs, factor, theta=10000.0):
    """The default with θ' = θ·f^(d/(d−2))."""
    return evaluate(_struct("ntk", theta=_float(theta), factor=_float(factor)), pairs)


def dynamic_ntk(pairs, factor, trained, length, theta=10000.0):
    """NTK with θ' = θ·(f·L/L0 − (f − 1))^(d/(d−2)), L = max(length, trained)."""
    attribute = _struct(
        "dynamic_ntk", theta=_float(theta), factor=_float(factor), trained=trained
    )
    return evaluate(attribute, pairs, length)


def yarn(
    pairs,
    factor,
    trained,
    theta=10000.0,
    beta_fast=None,
    beta_slow=None,
    truncate=None,
    magnitude=None,
    mscale=None,
    mscale_all_dim=None,
):
    """YaRN: interpolates low frequencies and keeps high ones. None: the default."""
    attribute = _struct(
        "yarn",
        theta=_float(theta),
        factor=_float(factor),
        trained=trained,
        beta_fast=_optional(beta_fast),
        beta_slow=_optional(beta_slow),
        truncate=None if truncate is None else str(bool(truncate)).lower(),
        magnitude=_optional(magnitude),
        mscale=_optional(mscale),
        mscale_all_dim=_optional(mscale_all_dim),
    )
    return evaluate(attribute, pairs)


def llama3(pairs, factor=8.0, low=1.0, high=4.0, trained=8192, theta=500000.0):
    """Llama 3.1: divides low frequencies by f and blends those in the middle."""
    attribute = _struct(
        "llama3",
        theta=_float(theta),
        factor=_float(factor),
        low=_float(low),
        high=_float(high),
        trained=trained,
    )
    return evaluate(attribute, pairs)


def longrope(
    pairs, short_factors, long_factors, trained, length, theta=10000.0, magnitude=None
):
    """LongRoPE: divides by the long list beyond the trained length, else by the
    short one. The magnitude is 1 unless given."""
    attribute = _struct(
        "longrope",
        theta=_float(theta),
        short_factors=_floats(short_factors),
        long_factors=_floats(long_factors),
        trained=trained,
        magnitude=_optional(magnitude),
    )
    return evaluate(attribute, pairs, length)


def proportional(pairs, share, theta=10000.0):
    """The default for the first ⌊share·d/2⌋ pairs and 0 for the others."""
    attribute = _struct("proportional", theta=_float(theta), share=_float(share))
    return evaluate(attribute, pairs)


def explicit(frequencies, magnitude=None):
    """A list of frequencies, one for each pair."""
    attribute = _struct(
        "explicit", frequencies=_floats(frequencies), magnitude=_optional(magnitude)
    )
    return evaluate(attribute, len(frequencies))
