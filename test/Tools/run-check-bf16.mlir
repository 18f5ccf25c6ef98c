// NumPy files hold bf16 as the integers of its bits: what was saved compares
// equal.
// RUN: rope-run %s --random 1 --save %t.npz
// RUN: rope-run %s --random 1 --expect %t.npz --rtol 0 | FileCheck %s
// CHECK: result 0: bf16[2x3] max_abs 0.000e+00 max_rel 0.000e+00 rtol 0.0e+00 ok
func.func @main(%x: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  %0 = arith.addf %x, %x : tensor<2x3xbf16>
  return %0 : tensor<2x3xbf16>
}
