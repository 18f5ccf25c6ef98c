"""Ops of the rope dialect, compiled, against the evaluator."""

import unittest

import numpy as np

import rope_mlir
from rope_mlir import frequencies, reference
from rope_mlir.reference import Rotation

ROPER = """
!Q = tensor<2x4x?x16xf32>
!K = tensor<2x2x?x16xf32>
!T = tensor<?x2x4xf32>
func.func @roper(%q: !Q, %k: !K, %v: !K, %positions: tensor<?xi64>) -> !Q {
  %c2 = arith.constant 2 : index
  %m = tensor.dim %q, %c2 : !Q
  %t0 = tensor.empty(%m) : !T
  %t = rope.table #rope.llama3<theta = 5.0e5, factor = 8.0, low = 1.0,
                               high = 4.0, trained = 8192>
    ins(%positions : tensor<?xi64>) outs(%t0 : !T) -> !T
  %o0 = tensor.empty(%m) : !Q
  %o = rope.attention ins(%q, %k, %v : !Q, !K, !K)
    rotate_query(%t : !T) <interleaved offset = 8 along [2]>
    rotate_key(%t : !T) <interleaved offset = 8 along [2]>
    rotate_value(%t : !T) <half along [2]>
    rerotate_output(%t : !T) <half along [2]>
    outs(%o0 : !Q) scale 0.25 causal -> !Q
  return %o : !Q
}
"""


class RoperTest(unittest.TestCase):
    def test_roper(self):
        rng = np.random.default_rng(3)
        q = rng.uniform(-1, 1, (2, 4, 9, 16)).astype(np.float32)
        k = rng.uniform(-1, 1, (2, 2, 9, 16)).astype(np.float32)
        v = rng.uniform(-1, 1, (2, 2, 9, 16)).astype(np.float32)
        positions = np.arange(1000, 1009)
        table = reference.table(positions, frequencies.llama3(4))
        score = Rotation(table, "interleaved", offset=8)
        turn = Rotation(table)
        expected = reference.attention(
            q, k, v, scale=0.25, causal=True,
            rotate_query=score, rotate_key=score, rotate_value=turn, rerotate_output=turn,
        ).output
        for portable in [False, True]:
            with self.subTest(portable=portable):
                model = rope_mlir.compile(ROPER, portable=portable)
                output = model.roper(q, k, v, positions)
                self.assertLess(np.abs(output - expected).max(), 5e-7)


if __name__ == "__main__":
    unittest.main()
