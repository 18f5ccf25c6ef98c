"""Models compiled and called from Python."""

import ctypes.util
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import rope_mlir

MODEL = """
func.func @scale(%x: tensor<?x2xf32>, %s: f32) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %t = tensor.splat %s[%n] : tensor<?x2xf32>
  %0 = arith.mulf %x, %t : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
func.func @same(%x: tensor<3xf64>) -> (tensor<3xf64>, i64) {
  %n = arith.constant 7 : i64
  return %x, %n : tensor<3xf64>, i64
}
func.func @short(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = arith.addf %x, %x : tensor<2xbf16>
  return %0 : tensor<2xbf16>
}
func.func @fill(%m: memref<2xi32>) {
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%m : memref<2xi32>)
  return
}
func.func @point(%x: tensor<f64>) -> tensor<f64> {
  return %x : tensor<f64>
}
func.func @numbers(%i: i8, %x: f16) -> (i8, f16) {
  return %i, %x : i8, f16
}
func.func @odd.name(%x: tensor<2xi1>) -> tensor<2xi1> {
  return %x : tensor<2xi1>
}
"""


class ExecutableTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rope_mlir.compile(MODEL)

    def test_calls(self):
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        np.testing.assert_array_equal(self.model.scale(x, 0.5), 0.5 * x)
        np.testing.assert_array_equal(self.model.scale(x, np.float32(2)), 2 * x)
        self.assertEqual(self.model.scale(x[:0], 2).shape, (0, 2))

    def test_takes_views(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
        self.assertFalse(x.flags.c_contiguous)
        np.testing.assert_array_equal(self.model.scale(x, 2.0), 2 * x)

    def test_takes_misaligned_arrays(self):
        bytes = np.zeros(3 * 8 + 1, np.uint8)
        x = bytes[1:].view(np.float64)
        x[:] = [1, 2, 3]
        self.assertFalse(x.flags.aligned)
        np.testing.assert_array_equal(self.model.same(x)[0], x)
        point = bytes[1:9].view(np.float64).reshape(())
        self.assertEqual(self.model.point(point), 1)

    def test_numbers_are_in_range(self):
        self.assertEqual(self.model.numbers(-128, 0.5), (-128, 0.5))
        self.assertEqual(self.model.numbers(0, float("inf"))[1], np.inf)
        for number in (128, -129, np.uint64(2**63)):
            with self.assertRaisesRegex(ValueError, "0: .* out of the range of i8"):
                self.model.numbers(number, 0)
        with self.assertRaisesRegex(ValueError, "1: .* out of the range of f16"):
            self.model.numbers(0, 1e9)

    def test_takes_dlpack(self):
        class Tensor:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = np.ones((1, 2), np.float32)
        np.testing.assert_array_equal(self.model.scale(Tensor(x), 3.0), 3 * x)

    def test_results_own_their_memory(self):
        model = rope_mlir.compile(MODEL)
        x = np.array([1.0, 2.0, 3.0])
        y, n = model.same(x)
        x[:] = 0
        del model
        gc.collect()
        np.testing.assert_array_equal(y, [1, 2, 3])
        y[0] = 5
        self.assertEqual(y[0], 5)
        self.assertEqual(n, 7)

    def test_bf16_is_bits(self):
        x = np.array([1.0, -2.5], np.float32).view(np.uint32) >> 16
        y = self.model.short(x.astype(np.uint16))
        self.assertEqual(y.dtype, np.uint16)
        doubled = (y.astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_array_equal(doubled, [2, -5])

    def test_memrefs_are_written(self):
        m = np.zeros(2, np.int32)
        self.assertIsNone(self.model.fill(m))
        np.testing.assert_array_equal(m, [1, 1])
        m.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "argument 0: memref<2xi32> may be"):
            self.model.fill(m)
        with self.assertRaisesRegex(ValueError, "needs a writable, C-contiguous"):
            self.model.fill(np.zeros(4, np.int32)[::2])

    def test_describes_entries(self):
        self.assertEqual(
            list(self.model.entries), ["scale", "same", "short", "fill", "point", "numbers", "odd.name"]
        )
        scale = self.model.scale
        self.assertEqual(
            repr(scale), "<entry scale(tensor<?x2xf32>, f32) -> (tensor<?x2xf32>)>"
        )
        self.assertEqual(scale.args[0].shape, (None, 2))
        self.assertEqual(scale.args[0].dtype, np.float32)
        self.assertTrue(scale.args[1].is_scalar)
        self.assertTrue(self.model.short.args[0].is_bf16)
        self.assertIn("same", dir(self.model))
        np.testing.assert_array_equal(
            self.model["odd.name"](np.array([True, False])), [True, False]
        )

    def test_wrong_arguments(self):
        x = np.zeros((3, 2), np.float32)
        for error, pattern, arguments in [
            (TypeError, "scale takes 2 arguments, got 1", [x]),
            (TypeError, r"argument 0: expected tensor<\?x2xf32>, got dtype float64",
             [x.astype(np.float64), 1.0]),
            (ValueError, r"argument 0: expected tensor<\?x2xf32>, got shape \(2, 3\)",
             [x.reshape(2, 3), 1.0]),
            (ValueError, r"got shape \(6,\)", [x.reshape(6), 1.0]),
            (TypeError, "argument 0: expected an array for .*, got list",
             [x.tolist(), 1.0]),
            (TypeError, "argument 1: expected f32, got 'a'", [x, "a"]),
            (ValueError, r"argument 1: expected f32, got shape \(2,\)",
             [x, np.zeros(2, np.float32)]),
        ]:
            with self.subTest(pattern), self.assertRaisesRegex(error, pattern):
                self.model.scale(*arguments)
        with self.assertRaisesRegex(AttributeError, r"no entry 'main' \(entries: scale"):
            self.model.main

    def test_runs_in_threads(self):
        x = np.ones((1000, 2), np.float32)
        wrong = []

        def work(scale):
            for _ in range(20):
                if not (self.model.scale(x, scale) == scale).all():
                    wrong.append(scale)

        threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class CompileTest(unittest.TestCase):
    def test_reads_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.mlir")
            path.write_text(MODEL)
            self.assertIn("same", rope_mlir.compile(path).entries)
            self.assertIn("same", rope_mlir.compile(str(path)).entries)
            path.write_text("func.func @f( {")
            with self.assertRaisesRegex(
                rope_mlir.CompileError, r"model\.mlir:1:14: error: expected non-function"
            ):
                rope_mlir.compile(path)
        with self.assertRaisesRegex(FileNotFoundError, "missing.mlir"):
            rope_mlir.compile("missing.mlir")

    def test_options(self):
        text = MODEL.encode()
        x = np.ones((1, 2), np.float32)
        for options in [
            {"target": "generic", "opt_level": 0},
            {"portable": True},
            {"runtime_checks": True},
        ]:
            with self.subTest(options):
                model = rope_mlir.compile(text, **options)
                np.testing.assert_array_equal(model.scale(x, 2.0), 2 * x)

    def test_half_floats_on_any_processor(self):
        model = """func.func @twice(%x: tensor<4xf16>, %y: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xf16>) {
          %0 = arith.addf %x, %x : tensor<4xf16>
          %1 = arith.truncf %y : tensor<4xf64> to tensor<4xf16>
          return %0, %1 : tensor<4xf16>, tensor<4xf16>
        }"""
        x = np.array([0, 1 / 3, -3e4, np.nan], np.float16)
        # Halfway between two numbers, but for the last bit.
        y = 1 + 2**-11 + np.array([-1, 0, 1, 2]) * 2.0**-52
        for target in ("generic", "native"):
            with self.subTest(target):
                twice, narrow = rope_mlir.compile(model, target=target).twice(x, y)
                np.testing.assert_array_equal(twice, x + x)
                np.testing.assert_array_equal(narrow, y.astype(np.float16))

    def test_wrong_options(self):
        for pattern, options in [
            ("unknown target CPU 'z80'", {"target": "z80"}),
            ("unknown target feature 'avx'", {"features": "avx"}),
            ("unknown optimization level 4", {"opt_level": 4}),
            ("unknown optimization level -1", {"opt_level": -1}),
            ("bad pipeline options 'no-such-thing=true'", {"no_such_thing": True}),
        ]:
            with self.subTest(pattern):
                with self.assertRaisesRegex(rope_mlir.CompileError, pattern):
                    rope_mlir.compile(MODEL, **options)

    def test_unreadable_models(self):
        with self.assertRaisesRegex(FileNotFoundError, "missing.mlir"):
            rope_mlir.compile("missing.mlir")
        with self.assertRaises(TypeError):
            rope_mlir.compile(None)
        with self.assertRaisesRegex(rope_mlir.CompileError, "<model>:1:13: error"):
            rope_mlir.compile("func.func @f {")
        with self.assertRaisesRegex(rope_mlir.CompileError, "<model>:1:1: error: unexpected character"):
            rope_mlir.compile(b"\xff\n")


class LibraryTest(unittest.TestCase):
    """The package looks for its library when it is imported."""

    def import_with(self, library):
        return subprocess.run(
            [sys.executable, "-c", "import rope_mlir"],
            env=os.environ | {"ROPE_C_LIBRARY": library},
            capture_output=True,
            text=True,
        )

    def test_wrong_libraries(self):
        for library, message in [
            ("/no/where.so", "libRopeC.so is not at /no/where.so"),
            (__file__, f"cannot load {__file__}"),
            (ctypes.util.find_library("c"), "is another library: it has no ropeArrayGetBuffer"),
        ]:
            with self.subTest(library):
                result = self.import_with(library)
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)

    def test_empty_name_is_none(self):
        self.assertEqual(self.import_with("").returncode, 0)


if __name__ == "__main__":
    unittest.main()
