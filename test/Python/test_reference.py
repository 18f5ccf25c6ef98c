"""The evaluator and the schedules against formulas written in NumPy."""

import unittest

import numpy as np

from rope_mlir import frequencies, reference
from rope_mlir.reference import Rotation


def complex_pairs(x, pairing):
    """The channel pairs of the last dim as complex numbers."""
    if pairing == "half":
        half = x.shape[-1] // 2
        return x[..., :half] + 1j * x[..., half:]
    return x[..., ::2] + 1j * x[..., 1::2]


def softmax_attention(q, k, v, visible, scale):
    scores = np.einsum("bhgmd,bhnd->bhgmn", q, k) * scale
    weights = np.where(visible, np.exp(scores), 0)
    return np.einsum("bhgmn,bhne->bhgme", weights, v) / weights.sum(-1, keepdims=True)


class FrequenciesTest(unittest.TestCase):
    def test_formulas(self):
        i = np.arange(4)
        w = 10000.0 ** (-i / 4)
        for schedule, values in [
            (frequencies.default(4), w),
            (frequencies.linear(4, 4.0), w / 4),
            (frequencies.ntk(4, 4.0), (10000.0 * 4.0 ** (8 / 6)) ** (-i / 4)),
            (
                frequencies.dynamic_ntk(4, 2.0, trained=16, length=32),
                (10000.0 * 3.0 ** (8 / 6)) ** (-i / 4),
            ),
            (frequencies.longrope(4, 4 * [1], 4 * [2], 16, length=16), w),
            (frequencies.longrope(4, 4 * [1], 4 * [2], 16, length=17), w / 2),
            (frequencies.proportional(4, 0.5), w * [1, 1, 0, 0]),
            (frequencies.explicit([1, 0.5]), [1, 0.5]),
        ]:
            with self.subTest(schedule.attribute):
                np.testing.assert_allclose(schedule.values, values, rtol=1e-15)
                self.assertEqual(schedule.magnitude, 1)

    def test_ends_of_the_spectrum(self):
        w = 500000.0 ** (-np.arange(32) / 32)
        llama = frequencies.llama3(32).values
        np.testing.assert_allclose(llama[0], w[0])
        np.testing.assert_allclose(llama[-1], w[-1] / 8)
        yarn = frequencies.yarn(32, 40.0, 4096, theta=500000.0)
        np.testing.assert_allclose(yarn.values[[0, -1]], [w[0], w[-1] / 40])
        self.assertAlmostEqual(yarn.magnitude, 0.1 * np.log(40) + 1)
        self.assertEqual(frequencies.yarn(4, 40.0, 4096, magnitude=1.5).magnitude, 1.5)

    def test_attributes_are_exact(self):
        schedule = frequencies.default(2, theta=1e16)
        self.assertEqual(schedule.attribute, "#rope.default<1.0e+16>")
        self.assertEqual(schedule.values[1], 1e-8)

    def test_errors(self):
        for pattern, call in [
            ("factor must be positive", lambda: frequencies.linear(4, -1)),
            ("finite number, got nan", lambda: frequencies.default(4, float("nan"))),
            ("expected 1 to", lambda: frequencies.default(0)),
            ("no schedule", lambda: frequencies.evaluate("42 : i32", 4)),
            (
                "depends on the length",
                lambda: frequencies.dynamic_ntk(4, 2.0, trained=16, length=None),
            ),
        ]:
            with self.subTest(pattern), self.assertRaisesRegex(ValueError, pattern):
                call()


class RotationTest(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)
        self.frequencies = frequencies.default(4)
        self.positions = np.array([0, 3, 1000])
        self.angles = self.positions[:, None] * self.frequencies.values
        self.table = reference.table(self.positions, self.frequencies)

    def test_table(self):
        expected = np.stack([np.cos(self.angles), np.sin(self.angles)], 1)
        np.testing.assert_allclose(self.table, expected, atol=1e-13)
        scaled = reference.table(self.positions, self.frequencies, magnitude=2.0)
        np.testing.assert_allclose(scaled, 2 * self.table)
        half = reference.table([0.5], [np.pi])
        np.testing.assert_allclose(half, [[[0], [1]]], atol=1e-15)
        self.assertEqual(reference.table(3, self.frequencies).shape, (2, 4))

    def test_table_modes(self):
        position, frequency = np.int64(123456), np.float64(0.1)
        angle = np.float32(position) * np.float32(frequency)
        table = reference.table([position], [frequency], mode="f32_angle")
        np.testing.assert_allclose(table[0, 0], np.cos(np.float64(angle)), rtol=1e-15)

    def test_axes(self):
        positions = np.array([[1, 2], [5, 6]])
        table = reference.table(positions, [1.0, 0.5], axes=[1, 0])
        np.testing.assert_allclose(table[0, 0], np.cos([5.0, 0.5]))

    def test_rotate(self):
        x = self.rng.standard_normal((2, 5, 3, 8))
        turn = np.exp(1j * self.angles)
        for pairing in ["half", "interleaved"]:
            y = reference.rotate(x, self.table, pairing=pairing)
            expected = complex_pairs(x, pairing) * turn
            np.testing.assert_allclose(complex_pairs(y, pairing), expected, atol=1e-12)
            back = reference.rerotate(y, Rotation(self.table, pairing))
            np.testing.assert_allclose(back, x, atol=1e-14)

    def test_rotate_options(self):
        x = self.rng.standard_normal((3, 2, 10))
        y = reference.rotate(x, self.table, offset=2, along=[0])
        np.testing.assert_array_equal(y[..., :2], x[..., :2])
        expected = complex_pairs(x[..., 2:], "half") * np.exp(1j * self.angles)[:, None]
        np.testing.assert_allclose(complex_pairs(y[..., 2:], "half"), expected, atol=1e-12)
        z = reference.rotate(x[..., 2:], self.table, pairing="interleaved", to="half", along=[0])
        expected = complex_pairs(x[..., 2:], "interleaved") * np.exp(1j * self.angles)[:, None]
        np.testing.assert_allclose(complex_pairs(z, "half"), expected, atol=1e-12)

    def test_compose_and_assemble(self):
        other = reference.table(self.positions[::-1], self.frequencies)
        total = reference.table(self.positions + self.positions[::-1], self.frequencies)
        np.testing.assert_allclose(reference.compose(self.table, other), total, atol=1e-12)
        quotient = reference.compose(total, other, inverse=True)
        np.testing.assert_allclose(quotient, self.table, atol=1e-12)
        assembled = reference.assemble(self.table[:, 0], self.table[:, 1])
        np.testing.assert_array_equal(assembled, self.table)

    def test_errors(self):
        x = np.zeros((3, 8))
        for pattern, call in [
            ("unknown pairing 'odd'", lambda: reference.rotate(x, self.table, pairing="odd")),
            ("unknown mode", lambda: reference.table([1], [1.0], mode="fast")),
            ("1 axes for 2 pairs", lambda: reference.table([[1]], [1.0, 1.0], axes=[0])),
            ("must be a vector", lambda: reference.table([1], [[1.0]])),
            ("follows dims", lambda: reference.rotate(np.zeros((4, 8)), self.table)),
            ("4 pairs do not fit into 8", lambda: reference.rotate(x, self.table, offset=1)),
            ("tables of shapes", lambda: reference.compose(self.table, self.table[:2])),
        ]:
            with self.subTest(pattern), self.assertRaisesRegex(ValueError, pattern):
                call()


class AttentionTest(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(2)
        self.q = rng.standard_normal((2, 3, 2, 5, 4))
        self.k = rng.standard_normal((2, 3, 5, 4))
        self.v = rng.standard_normal((2, 3, 5, 6))
        self.causal = np.tri(5, dtype=bool)

    def test_formula(self):
        expected = softmax_attention(self.q, self.k, self.v, self.causal, 0.5)
        output, lse = reference.attention(self.q, self.k, self.v, causal=True)
        np.testing.assert_allclose(output, expected, atol=1e-14)
        self.assertEqual(lse.shape, (2, 3, 2, 5))
        masked = reference.attention(self.q, self.k, self.v, mask=self.causal)
        np.testing.assert_array_equal(masked.output, output)
        added = np.where(self.causal, 0, -np.inf)
        np.testing.assert_array_equal(
            reference.attention(self.q, self.k, self.v, mask=added).output, output
        )

    def test_merged_heads(self):
        output, lse = reference.attention(self.q, self.k, self.v, scale=0.3)
        merged = reference.attention(self.q.reshape(2, 6, 5, 4), self.k, self.v, scale=0.3)
        np.testing.assert_array_equal(merged.output, output.reshape(2, 6, 5, 6))
        np.testing.assert_array_equal(merged.lse, lse.reshape(2, 6, 5))

    def test_options(self):
        window = reference.attention(self.q, self.k, self.v, window=(1, 0)).output
        visible = self.causal & ~np.tri(5, k=-2, dtype=bool)
        expected = softmax_attention(self.q, self.k, self.v, visible, 0.5)
        np.testing.assert_allclose(window, expected, atol=1e-14)
        short = reference.attention(self.q, self.k, self.v, key_length=[2, 5]).output
        expected = softmax_attention(self.q[:1], self.k[:1], self.v[:1], np.arange(5) < 2, 0.5)
        np.testing.assert_allclose(short[:1], expected, atol=1e-14)
        moved = reference.attention(
            self.q, self.k, self.v, causal=True,
            query_pos=np.full((2, 5), 4), key_pos=np.arange(10).reshape(2, 5) % 5,
        ).output
        np.testing.assert_array_equal(
            moved, reference.attention(self.q, self.k, self.v).output
        )

    def test_no_visible_key(self):
        output, lse = reference.attention(self.q, self.k, self.v, key_length=[0, 0])
        self.assertTrue((output == 0).all())
        self.assertTrue((lse == -np.inf).all())
        sink = np.arange(6.0)
        lse = reference.attention(self.q, self.k, self.v, key_length=[0, 0], sink=sink).lse
        np.testing.assert_array_equal(lse[0, :, :, 0].reshape(6), sink)

    def test_rotations(self):
        """RoPER: values turned, the output turned back."""
        table = reference.table(np.arange(5), frequencies.default(2))
        turn = Rotation(table)
        fused = reference.attention(
            self.q, self.k, self.v[..., :4], causal=True,
            rotate_query=turn, rotate_key=turn, rotate_value=turn, rerotate_output=turn,
        ).output
        plain = reference.attention(
            reference.rotate(self.q, table), reference.rotate(self.k, table),
            reference.rotate(self.v[..., :4], table), causal=True,
        ).output
        np.testing.assert_allclose(fused, reference.rerotate(plain, table), atol=1e-14)
        merged = reference.attention(
            self.q.reshape(2, 6, 5, 4), self.k, self.v[..., :4], causal=True,
            rotate_query=turn, rotate_key=turn, rotate_value=turn, rerotate_output=turn,
        ).output
        np.testing.assert_array_equal(merged, fused.reshape(2, 6, 5, 4))

    def test_linear(self):
        def phi(x):
            return np.where(x > 0, x + 1, np.exp(x))

        weights = np.einsum("bhgmd,bhnd->bhgmn", phi(self.q), phi(self.k)) * self.causal
        expected = np.einsum("bhgmn,bhne->bhgme", weights, self.v)
        expected /= weights.sum(-1, keepdims=True)
        whole = reference.linear_attention(self.q, self.k, self.v, causal=True)
        np.testing.assert_allclose(whole.output, expected, atol=1e-13)
        first = reference.linear_attention(
            self.q[..., :3, :], self.k[..., :3, :], self.v[..., :3, :], causal=True
        )
        second = reference.linear_attention(
            self.q[..., 3:, :], self.k[..., 3:, :], self.v[..., 3:, :], causal=True,
            kv_state=first.kv_state, k_sum=first.k_sum,
        )
        parts = np.concatenate([first.output, second.output], 3)
        np.testing.assert_allclose(parts, whole.output, atol=1e-13)
        np.testing.assert_allclose(second.kv_state, whole.kv_state, atol=1e-13)

    def test_errors(self):
        table = np.zeros((6, 2, 2))
        for error, pattern, call in [
            (ValueError, "do not divide",
             lambda: reference.attention(np.zeros((2, 5, 5, 4)), self.k, self.v)),
            (ValueError, "4 or 5 dims",
             lambda: reference.attention(np.zeros(3), self.k, self.v)),
            (ValueError, "key has shape",
             lambda: reference.attention(self.q, self.k[..., :2], self.v)),
            (ValueError, "merged heads",
             lambda: reference.attention(
                 self.q.reshape(2, 6, 5, 4), self.k, self.v,
                 rotate_query=Rotation(table, along=[1]))),
            (ValueError, "unknown feature map 'tanh'",
             lambda: reference.linear_attention(
                 self.q, self.k, self.v, feature_map="tanh")),
            (TypeError, "integers, not float64",
             lambda: reference.attention(self.q, self.k, self.v, key_length=[2.5, 1.0])),
        ]:
            with self.subTest(pattern), self.assertRaisesRegex(error, pattern):
                call()


if __name__ == "__main__":
    unittest.main()
