"""Compiles small attention models and compares them with NumPy in f64.

    attention.py CASE

Rotations and softmax are computed here from their formulas, not from the
dialect's own code. Inputs are uniform in [-1, 1], tables are exact ones in f32,
scores are scaled by 1/sqrt(D). Exit status 1 if a result is off.
"""

import sys

import harness
import numpy as np
from harness import rotate, run

THETA = 10000.0
# The bound on f32 results, with the rounding of the tables to f32.
BOUND = 5e-7
RNG = np.random.default_rng(1)


def check(name, got, want, bound=BOUND):
    harness.check(name, got, want, bound)


def uniform(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def angles(positions, pairs):
    return np.asarray(positions)[..., None] * THETA ** (-np.arange(pairs) / pairs)


def attend(query, key, value, visible):
    """query [b, heads, m, d], key and value [b, groups, n, d], visible [b, m, n]."""
    repeats = query.shape[1] // key.shape[1]
    key, value = (np.repeat(x.astype(np.float64), repeats, 1) for x in (key, value))
    scores = query.astype(np.float64) @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    scores = np.where(visible[:, None], scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = weights.sum(-1, keepdims=True)
    return weights @ value / np.where(total > 0, total, 1)


def causal(batches, rows, keys):
    return np.broadcast_to(np.arange(keys) <= np.arange(rows)[:, None], (batches, rows, keys))


def gqa():
    """A Llama block: 8 query heads on 2 key-value heads, all channels turn, any
    length. The rotations are ops of their own, or roles of attention."""
    query, key, value = uniform(2, 8, 33, 64), uniform(2, 2, 33, 64), uniform(2, 2, 33, 64)
    types = """
      !Q = tensor<?x8x?x64xf32>
      !K = tensor<?x2x?x64xf32>
      !T = tensor<?x2x32xf32>"""
    table = """
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %s = tensor.dim %q, %c2 : !Q
        %e = tensor.empty(%s) : !T
        %t = rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%e : !T) -> !T"""
    apart = run(f"""{types}
      func.func @main(%q: !Q, %k: !K, %v: !K) -> !Q {{{table}
        %qr = rope.rotate <half along [2]> ins(%q, %t : !Q, !T) outs(%q : !Q) -> !Q
        %kr = rope.rotate <half along [2]> ins(%k, %t : !K, !T) outs(%k : !K) -> !K
        %o = rope.attention ins(%qr, %kr, %v : !Q, !K, !K) outs(%q : !Q) scale 0.125 causal -> !Q
        return %o : !Q
      }}""", query, key, value)[0]
    fused = run(f"""{types}
      func.func @main(%q: !Q, %k: !K, %v: !K) -> !Q {{{table}
        %o = rope.attention ins(%q, %k, %v : !Q, !K, !K) rotate_query(%t : !T) <half along [2]>
               rotate_key(%t : !T) <half along [2]> outs(%q : !Q) scale 0.125 causal -> !Q
        return %o : !Q
      }}""", query, key, value)[0]
    angle = angles(np.arange(33), 32)
    want = attend(rotate(query, angle), rotate(key, angle), value, causal(2, 33, 33))
    check("rotations apart", apart, want)
    check("rotations fused", fused, want)


def interleaved():
    """GPT-J and MLA: neighbours form pairs, and only some channels turn, the
    leading ones or those from an offset on."""
    for offset in (0, 32):
        query, key, value = uniform(1, 4, 17, 64), uniform(1, 4, 17, 64), uniform(1, 4, 17, 48)
        got = run(f"""
          !Q = tensor<1x4x?x64xf32>
          !V = tensor<1x4x?x48xf32>
          !T = tensor<?x2x16xf32>
          func.func @main(%q: !Q, %k: !Q, %v: !V, %first: index, %e: !T) -> !V {{
            %t = rope.table #rope.default<1.0e4> ins(%first : index) outs(%e : !T) -> !T
            %o = rope.attention ins(%q, %k, %v : !Q, !Q, !V)
                   rotate_query(%t : !T) <interleaved offset = {offset} along [2]>
                   rotate_key(%t : !T) <interleaved offset = {offset} along [2]>
                   outs(%v : !V) scale 0.125 causal -> !V
            return %o : !V
          }}""", query, key, value, np.int64(1000), np.zeros((17, 2, 16), np.float32))[0]
        angle = angles(np.arange(1000, 1017), 16)
        turned = [rotate(x, angle, pairing="interleaved", offset=offset) for x in (query, key)]
        check(f"offset {offset}", got, attend(*turned, value, causal(1, 17, 17)))


def roper():
    """RoPER: values turn at their keys' positions and the output turns back at
    the query's; a quarter of the channels of q and k turn, and half of v's. So the
    result does not change when all positions move."""
    query, key, value = (uniform(2, 4, 21, 64) for _ in range(3))
    results = []
    for first in (0, 500):
        results += run("""
          !X = tensor<2x?x4x64xf32>
          !T = tensor<?x2x8xf32>
          !U = tensor<?x2x16xf32>
          func.func @main(%q: !X, %k: !X, %v: !X, %first: index, %te: !T, %ue: !U) -> !X {
            %t = rope.table #rope.default<1.0e4> ins(%first : index) outs(%te : !T) -> !T
            %u = rope.table #rope.default<1.0e4> ins(%first : index) outs(%ue : !U) -> !U
            %o = rope.attention ins(%q, %k, %v : !X, !X, !X)
                   rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]>
                   rotate_value(%u : !U) <half along [1]> rerotate_output(%u : !U) <half along [1]>
                   outs(%q : !X) scale 0.125 causal
                   layout <query = "bm(hg)d", key = "bnhd", value = "bnhe", output = "bm(hg)e"> -> !X
            return %o : !X
          }""", *(x.swapaxes(1, 2).copy() for x in (query, key, value)), np.int64(first),
            np.zeros((21, 2, 8), np.float32), np.zeros((21, 2, 16), np.float32))
    angle, value_angle = angles(np.arange(21), 8), angles(np.arange(21), 16)
    output = attend(rotate(query, angle), rotate(key, angle), rotate(value, value_angle), causal(2, 21, 21))
    want = rotate(output, -value_angle).swapaxes(1, 2)
    check("from position 0", results[0], want)
    check("from position 500", results[1], want)


LINEAR = """
  !X = tensor<2x?x16xf32>
  !T = tensor<?x2x8xf32>
  !S = tensor<2x16x16xf32>
  !Z = tensor<2x16xf32>
  func.func @main(%q: !X, %k: !X, %v: !X, %first: index, %te: !T, %s: !S, %z: !Z) -> (!X, !S, !Z) {
    %t = rope.table #rope.default<1.0e4> ins(%first : index) outs(%te : !T) -> !T
    %o:3 = rope.linear_attention ins(%q, %k, %v : !X, !X, !X)
             rotate_query(%t : !T) <half along [1]> rotate_key(%t : !T) <half along [1]>
             outs(%q, %s, %z : !X, !S, !Z) feature_map elu_plus_one causal normalizer_eps 1.0e-6 -> !X, !S, !Z
    return %o#0, %o#1, %o#2 : !X, !S, !Z
  }"""


def linear():
    """Causal linear attention: chunks that hand on their states are the same as
    one pass over all."""
    query, key, value = (uniform(2, 40, 16) for _ in range(3))
    feature = lambda x: np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0).astype(np.float64)))
    angle = angles(np.arange(40), 8)
    past = np.tril(np.ones((40, 40)))
    plain = feature(query) @ feature(key).swapaxes(1, 2) * past
    turned = rotate(feature(query), angle) @ rotate(feature(key), angle).swapaxes(1, 2) * past
    want = turned @ value.astype(np.float64) / (plain.sum(-1, keepdims=True) + 1e-6)
    want_state = rotate(feature(key), angle).swapaxes(1, 2) @ value.astype(np.float64)

    def call(start, stop, state, total):
        part = slice(start, stop)
        return run(LINEAR, query[:, part], key[:, part], value[:, part], np.int64(start),
                   np.zeros((stop - start, 2, 8), np.float32), state, total)

    empty = np.zeros((2, 16, 16), np.float32), np.zeros((2, 16), np.float32)
    output, state, _ = call(0, 40, *empty)
    check("one pass", output, want)
    check("its state, of size 20", state, want_state, 20 * BOUND)
    outputs, states = [], empty
    for start, stop in ((0, 16), (16, 17), (17, 40)):
        output, *states = call(start, stop, *states)
        outputs.append(output)
    check("chunks", np.concatenate(outputs, 1), want)
    check("their state, of size 20", states[0], want_state, 20 * BOUND)


def decode():
    """Steps of one token with a cache that grows in place give what one pass over
    the whole sequence gives. Slots that are not written yet hold NaN."""
    query, key, value = uniform(1, 8, 12, 32), uniform(1, 2, 12, 32), uniform(1, 2, 12, 32)
    unwritten = np.full((1, 2, 16, 32), np.nan, np.float32)
    got = run("""
      !Q = tensor<1x8x12x32xf32>
      !K = tensor<1x2x12x32xf32>
      !Q1 = tensor<1x8x1x32xf32>
      !K1 = tensor<1x2x1x32xf32>
      !C = tensor<1x2x16x32xf32>
      !T = tensor<1x2x16xf32>
      func.func @main(%q: !Q, %k: !K, %v: !K, %kc: !C, %vc: !C) -> !Q {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c12 = arith.constant 12 : index
        %e = tensor.empty() : !Q
        %r:3 = scf.for %p = %c0 to %c12 step %c1 iter_args(%out = %e, %keys = %kc, %values = %vc) -> (!Q, !C, !C) {
          %te = tensor.empty() : !T
          %t = rope.table #rope.default<1.0e4> ins(%p : index) outs(%te : !T) -> !T
          %q1 = tensor.extract_slice %q[0, 0, %p, 0] [1, 8, 1, 32] [1, 1, 1, 1] : !Q to !Q1
          %k1 = tensor.extract_slice %k[0, 0, %p, 0] [1, 2, 1, 32] [1, 1, 1, 1] : !K to !K1
          %v1 = tensor.extract_slice %v[0, 0, %p, 0] [1, 2, 1, 32] [1, 1, 1, 1] : !K to !K1
          %slot = tensor.extract_slice %keys[0, 0, %p, 0] [1, 2, 1, 32] [1, 1, 1, 1] : !C to !K1
          %kr = rope.rotate <half along [2]> ins(%k1, %t : !K1, !T) outs(%slot : !K1) -> !K1
          %keys1 = tensor.insert_slice %kr into %keys[0, 0, %p, 0] [1, 2, 1, 32] [1, 1, 1, 1] : !K1 into !C
          %values1 = tensor.insert_slice %v1 into %values[0, 0, %p, 0] [1, 2, 1, 32] [1, 1, 1, 1] : !K1 into !C
          %o = tensor.extract_slice %out[0, 0, %p, 0] [1, 8, 1, 32] [1, 1, 1, 1] : !Q to !Q1
          %o1 = rope.attention ins(%q1, %keys1, %values1 : !Q1, !C, !C) query_pos(%p : index)
                  rotate_query(%t : !T) <half along [2]> outs(%o : !Q1) scale 0.17677669529663687 causal -> !Q1
          %out1 = tensor.insert_slice %o1 into %out[0, 0, %p, 0] [1, 8, 1, 32] [1, 1, 1, 1] : !Q1 into !Q
          scf.yield %out1, %keys1, %values1 : !Q, !C, !C
        }
        return %r#0 : !Q
      }""", query, key, value, unwritten, unwritten)[0]
    angle = angles(np.arange(12), 16)
    check("decode", got, attend(rotate(query, angle), rotate(key, angle), value, causal(1, 12, 12)))


def lengths():
    """A batch of sequences of different lengths, in a cache of 24 slots: the rows
    of each are its last ones. Slots beyond a length hold NaN."""
    batches, rows, slots = 3, 4, 24
    query, key, value = uniform(batches, 4, rows, 32), uniform(batches, 2, slots, 32), uniform(batches, 2, slots, 32)
    counts = np.array([4, 17, 24], np.int32)
    for x in (key, value):
        for batch, count in enumerate(counts):
            x[batch, :, count:] = np.nan
    got = run("""
      !Q = tensor<?x4x?x32xf32>
      !K = tensor<?x2x?x32xf32>
      !L = tensor<?xi32>
      func.func @main(%q: !Q, %k: !K, %v: !K, %first: !L, %length: !L) -> !Q {
        %o = rope.attention ins(%q, %k, %v : !Q, !K, !K) query_pos(%first : !L) key_length(%length : !L)
               outs(%q : !Q) scale 0.17677669529663687 causal layout <query_pos = "b"> -> !Q
        return %o : !Q
      }""", query, key, value, counts - rows, counts)[0]
    positions = (counts - rows)[:, None] + np.arange(rows)
    visible = np.arange(slots) <= positions[..., None]
    check("lengths", got, attend(query, np.nan_to_num(key), np.nan_to_num(value), visible))


if __name__ == "__main__":
    {"gqa": gqa, "interleaved": interleaved, "roper": roper, "linear": linear, "decode": decode,
     "lengths": lengths}[sys.argv[1]]()
