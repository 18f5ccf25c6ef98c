// Products of pairs of bf16 are chosen where that is allowed and possible.

// RUN: rope-opt %s --rope-plan="lookup dots relaxed-bf16" | FileCheck %s
// RUN: rope-opt %s --rope-plan="lookup dots" | FileCheck %s --check-prefix=EXACT
// RUN: rope-opt %s --rope-plan="lookup relaxed-bf16" | FileCheck %s --check-prefix=EXACT
// RUN: rope-opt %s --rope-plan="lanes=8 dots relaxed-bf16" | FileCheck %s --check-prefix=EXACT

// EXACT-NOT: dots

// CHECK-LABEL: @prompt
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, {{.*}}weave = 8, {{.*}}dots = true>
func.func @prompt(%q: tensor<8x512x64xbf16>, %o: tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16> {
  %r = rope.attention ins(%q, %q, %q : tensor<8x512x64xbf16>, tensor<8x512x64xbf16>, tensor<8x512x64xbf16>)
    outs(%o : tensor<8x512x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x512x64xbf16>
  return %r : tensor<8x512x64xbf16>
}

// One of three is not bf16.
// CHECK-LABEL: @mixed
// CHECK-NOT: dots
func.func @mixed(%q: tensor<8x512x64xbf16>, %k: tensor<8x512x64xf16>, %o: tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16> {
  %r = rope.attention ins(%q, %k, %q : tensor<8x512x64xbf16>, tensor<8x512x64xf16>, tensor<8x512x64xbf16>)
    outs(%o : tensor<8x512x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x512x64xbf16>
  return %r : tensor<8x512x64xbf16>
}

// Keys of few rows are read where they lie.
// CHECK-LABEL: @decode
// CHECK-NOT: dots
func.func @decode(%q: tensor<8x1x64xbf16>, %k: tensor<8x512x64xbf16>, %o: tensor<8x1x64xbf16>) -> tensor<8x1x64xbf16> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x1x64xbf16>, tensor<8x512x64xbf16>, tensor<8x512x64xbf16>)
    outs(%o : tensor<8x1x64xbf16>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x1x64xbf16>
  return %r : tensor<8x1x64xbf16>
}
