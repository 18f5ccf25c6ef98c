// RUN: rope-opt %s --rope-plan=lookup=true | FileCheck %s
// RUN: rope-opt %s --rope-plan="lanes=8 registers=16" | FileCheck %s --check-prefix=AVX2
// RUN: rope-opt %s --rope-plan --rope-decompose=keep-planned=true | FileCheck %s --check-prefix=KEPT
// RUN: rope-opt %s --rope-plan --remarks-filter=rope-plan --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Small tiles leave registers for exponentials; panels of 64 channels fit the
// cache, keys and values together.
// CHECK-LABEL: @narrow
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 1, strips = 24, weave = 8, stream = -1, lookup = true>
// With 16 registers there is no room for exponentials.
// AVX2-LABEL: @narrow
// AVX2: rope.plan = #rope.cpu_plan<lanes = 8, rows = 6, keys = 2, channels = 2, group = 1, strips = 16, weave = -1, stream = -1>
// KEPT-LABEL: @narrow
// KEPT: rope.attention
// REMARK: remark: [Passed] attention | Category:rope-plan
// REMARK-SAME: Remark="vector code of 4 rows by 64 keys"
func.func @narrow(%q: tensor<8x512x64xf32>, %o: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>)
    outs(%o : tensor<8x512x64xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x512x64xf32>
  return %0 : tensor<8x512x64xf32>
}

// Panels of 128 channels take turns in the cache.
// CHECK-LABEL: @wide
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 4, strips = 24, weave = 16, stream = -1, lookup = true>
func.func @wide(%q: tensor<8x512x128xf32>, %o: tensor<8x512x128xf32>) -> tensor<8x512x128xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<8x512x128xf32>, tensor<8x512x128xf32>, tensor<8x512x128xf32>)
    outs(%o : tensor<8x512x128xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x512x128xf32>
  return %0 : tensor<8x512x128xf32>
}

// Few channels: no more steps than there are.
// CHECK-LABEL: @few_channels
// CHECK: channels = 1, group = 1, strips = 24, weave = 2
func.func @few_channels(%q: tensor<32x6xf32>, %o: tensor<32x6xf32>) -> tensor<32x6xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<32x6xf32>, tensor<32x6xf32>, tensor<32x6xf32>)
    outs(%o : tensor<32x6xf32>) scale 0.125 -> tensor<32x6xf32>
  return %0 : tensor<32x6xf32>
}

// What a user says stays; the rest is chosen.
// CHECK-LABEL: @given
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 6, keys = 4, channels = 4, group = 1, strips = 24, weave = -1, stream = -1, lookup = true>
func.func @given(%q: tensor<512x64xf32>, %o: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<512x64xf32>, tensor<512x64xf32>, tensor<512x64xf32>)
    outs(%o : tensor<512x64xf32>) scale 0.125 {rope.plan = #rope.cpu_plan<rows = 6>} -> tensor<512x64xf32>
  return %0 : tensor<512x64xf32>
}

// CHECK-LABEL: @doubles
// CHECK-NOT: rope.plan
// KEPT-LABEL: @doubles
// KEPT-NOT: rope.attention
// REMARK: remark: [Missed] attention | Category:rope-plan
// REMARK-SAME: Remark="query is f64, vectors are f32"
func.func @doubles(%q: tensor<32x8xf64>, %o: tensor<32x8xf64>) -> tensor<32x8xf64> {
  %0 = rope.attention ins(%q, %q, %q : tensor<32x8xf64>, tensor<32x8xf64>, tensor<32x8xf64>)
    outs(%o : tensor<32x8xf64>) scale 0.125 -> tensor<32x8xf64>
  return %0 : tensor<32x8xf64>
}

// CHECK-LABEL: @dynamic_channels
// CHECK-NOT: rope.plan
// REMARK: Remark="the number of channels is dynamic"
func.func @dynamic_channels(%q: tensor<32x?xf32>, %o: tensor<32x?xf32>) -> tensor<32x?xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<32x?xf32>, tensor<32x?xf32>, tensor<32x?xf32>)
    outs(%o : tensor<32x?xf32>) scale 0.125 -> tensor<32x?xf32>
  return %0 : tensor<32x?xf32>
}

// CHECK-LABEL: @channels_in_front
// CHECK-NOT: rope.plan
// REMARK: Remark="channels are not the last dim of key"
func.func @channels_in_front(%q: tensor<32x8xf32>, %k: tensor<8x16xf32>, %v: tensor<16x8xf32>, %o: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = rope.attention ins(%q, %k, %v : tensor<32x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>)
    outs(%o : tensor<32x8xf32>) scale 0.125 layout <key = "dn"> -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: @in_place
// CHECK-NOT: rope.plan
// REMARK: Remark="an input may share memory with a result"
func.func @in_place(%q: memref<32x8xf32>, %k: memref<16x8xf32>) {
  rope.attention ins(%q, %k, %k : memref<32x8xf32>, memref<16x8xf32>, memref<16x8xf32>)
    outs(%q : memref<32x8xf32>) scale 0.125
  return
}
