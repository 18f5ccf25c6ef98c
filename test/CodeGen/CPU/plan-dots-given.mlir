// A plan that asks for products of pairs of bf16 gets them.

// RUN: rope-opt %s --rope-plan=dots | FileCheck %s

// CHECK-LABEL: @prompt
// CHECK: stream = -1, dots = true>
func.func @prompt(%q: tensor<8x?x64xbf16>, %o: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %r = rope.attention ins(%q, %q, %q : tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>)
    outs(%o : tensor<8x?x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> {rope.plan = #rope.cpu_plan<dots = true>} -> tensor<8x?x64xbf16>
  return %r : tensor<8x?x64xbf16>
}

// Few rows would be read where they lie; these want packed keys.
// CHECK-LABEL: @decode_by_dots
// CHECK: stream = -1, dots = true>
func.func @decode_by_dots(%q: tensor<8x1x64xbf16>, %k: tensor<8x512x64xbf16>, %o: tensor<8x1x64xbf16>) -> tensor<8x1x64xbf16> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x1x64xbf16>, tensor<8x512x64xbf16>, tensor<8x512x64xbf16>)
    outs(%o : tensor<8x1x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> {rope.plan = #rope.cpu_plan<dots = true>} -> tensor<8x1x64xbf16>
  return %r : tensor<8x1x64xbf16>
}
