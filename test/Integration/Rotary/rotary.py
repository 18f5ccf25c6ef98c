"""Compiles small rotary models and compares them with NumPy in f64.

    rotary.py CASE

Frequencies and rotations are computed here from the formulas of the papers and
of Hugging Face's `modeling_rope_utils`, not from the dialect's own code. Exit
status 1 if a result is off.
"""

import sys

import numpy as np
from harness import check, rotate, run

CHANNELS = 16
PAIRS = CHANNELS // 2
RNG = np.random.default_rng(1)


def inverse_frequencies(theta):
    return 1.0 / theta ** (np.arange(0, CHANNELS, 2) / CHANNELS)


# ---------------------------------------------------------------- schedules

def yarn(theta, factor, trained, fast=32.0, slow=1.0):
    find = lambda rotations: (CHANNELS * np.log(trained / (rotations * 2 * np.pi))) / (2 * np.log(theta))
    low = max(np.floor(find(fast)), 0)
    high = min(np.ceil(find(slow)), CHANNELS - 1)
    high += 0.001 if low == high else 0
    ramp = np.clip((np.arange(PAIRS) - low) / (high - low), 0, 1)
    inverse = inverse_frequencies(theta)
    return inverse / factor * ramp + inverse * (1 - ramp), 0.1 * np.log(factor) + 1


def llama3(theta, factor, low, high, trained):
    inverse = inverse_frequencies(theta)
    result = []
    for w in inverse:
        wavelength = 2 * np.pi / w
        if wavelength < trained / high:
            result.append(w)
        elif wavelength > trained / low:
            result.append(w / factor)
        else:
            smooth = (trained / wavelength - low) / (high - low)
            result.append((1 - smooth) * w / factor + smooth * w)
    return np.array(result), 1.0


def dynamic_ntk(theta, factor, trained, length):
    length = max(length, trained)
    return inverse_frequencies(
        theta * (factor * length / trained - (factor - 1)) ** (CHANNELS / (CHANNELS - 2))), 1.0


SHORT = [1.0] * PAIRS
LONG = list(1.0 + 0.5 * np.arange(PAIRS))
LONGROPE = (f"#rope.longrope<theta = 1.0e4, short_factors = {SHORT}, "
            f"long_factors = {[float(x) for x in LONG]}, trained = 4096, magnitude = 1.19>")


def longrope(length):
    return inverse_frequencies(1e4) / np.array(LONG if length > 4096 else SHORT), 1.19


def proportional(theta, share):
    w = inverse_frequencies(theta)
    w[int(share * PAIRS):] = 0
    return w, 1.0


SCHEDULES = [
    ("#rope.default<1.0e4>", None, (inverse_frequencies(1e4), 1.0)),
    ("#rope.default<1.0e7>", None, (inverse_frequencies(1e7), 1.0)),
    ("#rope.linear<theta = 1.0e4, factor = 4.0>", None, (inverse_frequencies(1e4) / 4, 1.0)),
    ("#rope.ntk<theta = 1.0e4, factor = 8.0>", None,
     (inverse_frequencies(1e4 * 8 ** (CHANNELS / (CHANNELS - 2))), 1.0)),
    ("#rope.yarn<theta = 1.0e4, factor = 40.0, trained = 4096>", None, yarn(1e4, 40.0, 4096)),
    ("#rope.llama3<theta = 5.0e5, factor = 8.0, low = 1.0, high = 4.0, trained = 8192>", None,
     llama3(5e5, 8.0, 1.0, 4.0, 8192)),
    ("#rope.proportional<theta = 1.0e6, share = 0.25>", None, proportional(1e6, 0.25)),
    ("#rope.explicit<frequencies = [1.0, 0.5, 0.25, 0.125, 0.1, 0.01, 0.001, 0.0], magnitude = 2.0>",
     None, (np.array([1.0, 0.5, 0.25, 0.125, 0.1, 0.01, 0.001, 0.0]), 2.0)),
]
for n in (100, 2048, 10000):
    SCHEDULES.append(("#rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048>", n,
                      dynamic_ntk(1e4, 2.0, 2048, n)))
for n in (4096, 4097):
    SCHEDULES.append((LONGROPE, n, longrope(n)))


def schedules():
    """One module, a result for each schedule: x turned at the same positions. The
    lengths are an argument, so that the code gets to know them at run time alone."""
    x = RNG.standard_normal((2, 64, CHANNELS)).astype(np.float32)
    ids = np.sort(RNG.integers(0, 1000000, 64))
    text, results = "", []
    for i, (schedule, length, _) in enumerate(SCHEDULES):
        given = "" if length is None else f" length(%n{i})"
        text += f"""
          %l{i} = arith.constant {i} : index
          %n{i} = tensor.extract %lengths[%l{i}] : tensor<?xindex>
          %t{i} = rope.table {schedule} ins(%ids : tensor<?xi64>){given} outs(%t : !T) -> !T
          %y{i} = rope.rotate <half along [1]> ins(%x, %t{i} : !X, !T) outs(%e : !X) -> !X"""
        results.append(f"%y{i}")
    n = len(SCHEDULES)
    text = f"""
      !X = tensor<2x?x{CHANNELS}xf32>
      !T = tensor<?x2x{PAIRS}xf32>
      func.func @main(%x: !X, %ids: tensor<?xi64>, %lengths: tensor<?xindex>) -> tensor<?x2x?x{CHANNELS}xf32> {{
        %c0 = arith.constant 0 : index
        %count = arith.constant {n} : index
        %s = tensor.dim %ids, %c0 : tensor<?xi64>
        %t = tensor.empty(%s) : !T
        %e = tensor.empty(%s) : !X
        %all = tensor.empty(%count, %s) : tensor<?x2x?x{CHANNELS}xf32>{text}"""
    last = "%all"
    for i, y in enumerate(results):
        text += f"""
        %r{i} = tensor.insert_slice {y} into {last}[{i}, 0, 0, 0] [1, 2, %s, {CHANNELS}] [1, 1, 1, 1] : !X into tensor<?x2x?x{CHANNELS}xf32>"""
        last = f"%r{i}"
    text += f"""
        return {last} : tensor<?x2x?x{CHANNELS}xf32>
      }}"""
    lengths = np.array([length or 0 for _, length, _ in SCHEDULES])
    got, = run(text, x, ids, lengths)
    for (schedule, length, (w, a)), y in zip(SCHEDULES, got):
        check(f"{schedule[:30]} {length}", y, rotate(x, ids[:, None] * w, a), 3e-6)


# --------------------------------------------------------------------- axes

def mrope():
    """Qwen2-VL: three axes in sections; text tokens have the same number in each."""
    x = RNG.standard_normal((2, 4, 12, CHANNELS)).astype(np.float32)
    ids = RNG.integers(0, 5000, (3, 2, 12))
    axes = [0, 0, 1, 1, 1, 2, 2, 2]
    got, = run(f"""
      !X = tensor<?x4x?x{CHANNELS}xf32>
      !T = tensor<?x?x2x{PAIRS}xf32>
      func.func @main(%x: !X, %ids: tensor<3x?x?xi64>, %t: !T) -> !X {{
        %t0 = rope.table #rope.default<1.0e6> ins(%ids : tensor<3x?x?xi64>) axes {axes} outs(%t : !T) -> !T
        %y = rope.rotate <half along [0, 2]> ins(%x, %t0 : !X, !T) outs(%x : !X) -> !X
        return %y : !X
      }}""", x, ids, np.zeros((2, 12, 2, PAIRS), np.float32))
    angle = np.stack([ids[a] * inverse_frequencies(1e6)[i] for i, a in enumerate(axes)], -1)
    check("mrope", got, rotate(x, angle[:, None]), 3e-6)


def axial():
    """A 2-D image: half of the pairs turn by the row, half by the column."""
    height, width = 5, 7
    x = RNG.standard_normal((3, height, width, CHANNELS)).astype(np.float32)
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    w = list(100.0 ** (-np.arange(PAIRS // 2) / (PAIRS // 2))) * 2
    got, = run(f"""
      !X = tensor<3x?x?x{CHANNELS}xf32>
      !T = tensor<?x?x2x{PAIRS}xf32>
      func.func @main(%x: !X, %p: tensor<2x?x?xf32>, %t: !T) -> !X {{
        %t0 = rope.table #rope.explicit<frequencies = {[float(f) for f in w]}> ins(%p : tensor<2x?x?xf32>)
                axes {[0] * (PAIRS // 2) + [1] * (PAIRS // 2)} outs(%t : !T) -> !T
        %y = rope.rotate <interleaved along [1, 2]> ins(%x, %t0 : !X, !T) outs(%x : !X) -> !X
        return %y : !X
      }}""", x, np.stack([rows, columns]).astype(np.float32), np.zeros((height, width, 2, PAIRS), np.float32))
    angle = np.concatenate([rows[..., None] * w[:PAIRS // 2], columns[..., None] * w[PAIRS // 2:]], -1)
    check("axial", got, rotate(x, angle, pairing="interleaved"), 3e-6)


# ------------------------------------------------------------------ compose

def cached(schedule, old_length, new_length, old, new, want):
    """Turns cached keys by the quotient of the tables of new and old positions,
    which has to be the same as turning the keys afresh."""
    lengths = [f" length(%{n})" if n in ("to", "from") and "longrope" in schedule else "" for n in ("to", "from")]
    key = RNG.standard_normal((4, 9, CHANNELS)).astype(np.float32)
    got, = run(f"""
      !X = tensor<4x?x{CHANNELS}xf32>
      !T = tensor<?x2x{PAIRS}xf32>
      func.func @main(%key: !X, %old: tensor<?xi64>, %new: tensor<?xi64>, %from: index, %to: index, %t: !T) -> !X {{
        %told = rope.table {schedule} ins(%old : tensor<?xi64>){lengths[1]} outs(%t : !T) -> !T
        %cache = rope.rotate <half along [1]> ins(%key, %told : !X, !T) outs(%key : !X) -> !X
        %tnew = rope.table {schedule} ins(%new : tensor<?xi64>){lengths[0]} outs(%t : !T) -> !T
        %d = rope.compose ins(%tnew, inverse %told : !T, !T) outs(%t : !T) -> !T
        %y = rope.rotate <half along [1]> ins(%cache, %d : !X, !T) outs(%cache : !X) -> !X
        return %y : !X
      }}""", key, old, new, np.int64(old_length), np.int64(new_length), np.zeros((9, 2, PAIRS), np.float32))
    w, a = want
    check(f"{schedule[:16]} {old_length} to {new_length}", got, rotate(key, new[:, None] * w, a), 3e-6)


def compose():
    old = np.arange(50, 59)
    cached("#rope.default<1.0e4>", 0, 0, old, old - 50, (inverse_frequencies(1e4), 1.0))
    cached("#rope.default<1.0e4>", 0, 0, old, old + 100000, (inverse_frequencies(1e4), 1.0))
    cached(LONGROPE, 4000, 5000, old, old, longrope(5000))
    cached(LONGROPE, 5000, 4000, old, old, longrope(4000))


# ----------------------------------------------------- a model's own tables

def own():
    """cos and sin of the model: half the channels, or all with halves repeated."""
    x = RNG.standard_normal((2, 8, 11, CHANNELS)).astype(np.float32)
    angle = np.arange(11)[:, None] * inverse_frequencies(1e4)
    for name, width, full in (("half width", PAIRS, ""), ("full width", CHANNELS, " full = true")):
        wide = np.concatenate([angle] * (width // PAIRS), -1)
        got, = run(f"""
          !X = tensor<2x8x?x{CHANNELS}xf32>
          !C = tensor<?x{width}xf32>
          !T = tensor<?x2x{width}xf32>
          func.func @main(%x: !X, %cos: !C, %sin: !C, %t: !T) -> !X {{
            %t0 = rope.assemble ins(%cos, %sin : !C, !C) outs(%t : !T) -> !T
            %y = rope.rotate <half along [2]{full}> ins(%x, %t0 : !X, !T) outs(%x : !X) -> !X
            return %y : !X
          }}""", x, np.cos(wide).astype(np.float32), np.sin(wide).astype(np.float32),
            np.zeros((11, 2, width), np.float32))
        check(name, got, rotate(x, angle), 2e-6)


if __name__ == "__main__":
    {"schedules": schedules, "mrope": mrope, "axial": axial, "compose": compose, "own": own}[sys.argv[1]]()
