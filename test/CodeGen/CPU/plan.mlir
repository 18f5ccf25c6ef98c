// RUN: rope-opt %s --rope-plan=lookup=true | FileCheck %s
// RUN: rope-opt %s --rope-plan="lanes=8 registers=16" | FileCheck %s --check-prefix=AVX2
// RUN: rope-opt %s --rope-plan --rope-decompose=keep-planned=true | FileCheck %s --check-prefix=KEPT
// RUN: rope-opt %s --rope-plan --remarks-filter=rope-plan --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Small tiles leave registers for exponentials; panels of 64 channels fit the
// cache, keys and values together.
// CHECK-LABEL: @narrow
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 1, strips = 24, weave = 8, stream = 16, lookup = true>
// With 16 registers there is no room for exponentials. Panels have 32 keys, for
// each adds to the output.
// AVX2-LABEL: @narrow
// AVX2: rope.plan = #rope.cpu_plan<lanes = 8, rows = 6, keys = 4, channels = 2, group = 1, strips = 16, weave = -1, stream = 16>
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
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 4, strips = 24, weave = 16, stream = 16, lookup = true>
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

// Less than one step for each row: none.
// CHECK-LABEL: @fewer_channels_than_rows
// CHECK: rows = 5, keys = 3, channels = 1, group = 1, strips = 24, weave = -1
func.func @fewer_channels_than_rows(%q: tensor<32x4xf32>, %o: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>)
    outs(%o : tensor<32x4xf32>) scale 0.125 {rope.plan = #rope.cpu_plan<rows = 5, keys = 3>} -> tensor<32x4xf32>
  return %0 : tensor<32x4xf32>
}

// What a user says stays; the rest is chosen.
// CHECK-LABEL: @given
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 6, keys = 4, channels = 4, group = 1, strips = 24, weave = -1, stream = 16, lookup = true>
func.func @given(%q: tensor<512x64xf32>, %o: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<512x64xf32>, tensor<512x64xf32>, tensor<512x64xf32>)
    outs(%o : tensor<512x64xf32>) scale 0.125 {rope.plan = #rope.cpu_plan<rows = 6>} -> tensor<512x64xf32>
  return %0 : tensor<512x64xf32>
}

// What is chosen beside many rows leaves room for them.
// CHECK-LABEL: @many_rows
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 32, keys = 2, channels = 2,
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 40, keys = 1, channels = 1>
func.func @many_rows(%q: tensor<512x64xf32>, %o: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %0 = rope.attention ins(%q, %q, %q : tensor<512x64xf32>, tensor<512x64xf32>, tensor<512x64xf32>)
    outs(%o : tensor<512x64xf32>) scale 0.125 {rope.plan = #rope.cpu_plan<rows = 32>} -> tensor<512x64xf32>
  %1 = rope.linear_attention ins(%0, %q, %q : tensor<512x64xf32>, tensor<512x64xf32>, tensor<512x64xf32>)
    outs(%o : tensor<512x64xf32>) feature_map exp {rope.plan = #rope.cpu_plan<rows = 40>} -> tensor<512x64xf32>
  return %1 : tensor<512x64xf32>
}

// So do numbers that mean nothing for linear attention.
// CHECK-LABEL: @given_linear
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 1, channels = 4, group = 2, strips = 3, weave = 5, stream = 6, lookup = true, dots = true>
func.func @given_linear(%q: tensor<8x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %r = rope.linear_attention ins(%q, %q, %q : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
    outs(%o : tensor<8x64xf32>) feature_map exp
    {rope.plan = #rope.cpu_plan<group = 2, strips = 3, weave = 5, stream = 6, lookup = true, dots = true>} -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// Few rows: keys and values are read where they lie, on panels that half of the
// cache has room for.
// CHECK-LABEL: @decode
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 1, keys = 1, channels = 8, group = 1, strips = 1, weave = -1, stream = 16, lookup = true>
// AVX2-LABEL: @decode
// AVX2: rope.plan = #rope.cpu_plan<lanes = 8, rows = 1, keys = 2, channels = 8, group = 1, strips = 1, weave = -1, stream = 16>
func.func @decode(%q: tensor<8x1x128xf32>, %k: tensor<8x512x128xf32>, %o: tensor<8x1x128xf32>) -> tensor<8x1x128xf32> {
  %0 = rope.attention ins(%q, %k, %k : tensor<8x1x128xf32>, tensor<8x512x128xf32>, tensor<8x512x128xf32>)
    outs(%o : tensor<8x1x128xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x1x128xf32>
  return %0 : tensor<8x1x128xf32>
}

// Seven query heads share a key: one strip, with a row to spare.
// CHECK-LABEL: @decode_groups
// CHECK: rope.plan = #rope.cpu_plan<lanes = 16, rows = 8, keys = 2, channels = 2, group = 1, strips = 1, weave = -1, stream = 16, lookup = true>
// REMARK: remark: [Passed] attention | Category:rope-plan
// REMARK: Remark="vector code of 8 rows by 32 keys, which are read where they lie"
func.func @decode_groups(%q: tensor<7x128xf32>, %k: tensor<512x128xbf16>, %o: tensor<7x128xf32>) -> tensor<7x128xf32> {
  %0 = rope.attention ins(%q, %k, %k : tensor<7x128xf32>, tensor<512x128xbf16>, tensor<512x128xbf16>)
    outs(%o : tensor<7x128xf32>) scale 0.125
    layout <query = "gd", key = "nd", value = "ne", output = "ge"> -> tensor<7x128xf32>
  return %0 : tensor<7x128xf32>
}

// Sixteen rows are one strip if there are registers for their sums; where their
// number is not known, strips are short.
// CHECK-LABEL: @decode_many
// CHECK: rows = 16, keys = 1, channels = 1, group = 1, strips = 1, weave = -1, stream = 16
// CHECK: scf.if
// CHECK: rows = 4, keys = 1, channels = 4, group = 1, strips = 4, weave = -1, stream = 16
// AVX2-LABEL: @decode_many
// AVX2: rows = 8, keys = 2, channels = 1, group = 1, strips = 2, weave = -1, stream = 16
func.func @decode_many(%q: tensor<16x128xf32>, %p: tensor<?x128xf32>, %k: tensor<512x128xf32>, %o: tensor<16x128xf32>, %r: tensor<?x128xf32>) -> (tensor<16x128xf32>, tensor<?x128xf32>) {
  %0 = rope.attention ins(%q, %k, %k : tensor<16x128xf32>, tensor<512x128xf32>, tensor<512x128xf32>)
    outs(%o : tensor<16x128xf32>) scale 0.125
    layout <query = "gd", key = "nd", value = "ne", output = "ge"> -> tensor<16x128xf32>
  %1 = rope.attention ins(%p, %k, %k : tensor<?x128xf32>, tensor<512x128xf32>, tensor<512x128xf32>)
    outs(%r : tensor<?x128xf32>) scale 0.125
    layout <query = "gd", key = "nd", value = "ne", output = "ge"> -> tensor<?x128xf32>
  return %0, %1 : tensor<16x128xf32>, tensor<?x128xf32>
}

// Rows of many channels are fewer: the sums of all channels are written out.
// CHECK-LABEL: @decode_wide
// CHECK: rows = 8, {{.*}} strips = 2, {{.*}} stream = 16
// AVX2-LABEL: @decode_wide
// AVX2: rows = 4, {{.*}} strips = 4, {{.*}} stream = 16
func.func @decode_wide(%q: tensor<16x512xf32>, %k: tensor<512x512xf32>, %o: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %0 = rope.attention ins(%q, %k, %k : tensor<16x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>)
    outs(%o : tensor<16x512xf32>) scale 0.125
    layout <query = "gd", key = "nd", value = "ne", output = "ge"> -> tensor<16x512xf32>
  return %0 : tensor<16x512xf32>
}

// CHECK-LABEL: @decode_packed
// CHECK: rows = 4, keys = 4, channels = 4, group = 4, strips = 24, weave = 16, stream = -1
func.func @decode_packed(%q: tensor<8x1x128xf32>, %k: tensor<8x512x128xf32>, %o: tensor<8x1x128xf32>) -> tensor<8x1x128xf32> {
  %0 = rope.attention ins(%q, %k, %k : tensor<8x1x128xf32>, tensor<8x512x128xf32>, tensor<8x512x128xf32>)
    outs(%o : tensor<8x1x128xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> {rope.plan = #rope.cpu_plan<stream = -1>} -> tensor<8x1x128xf32>
  return %0 : tensor<8x1x128xf32>
}

// How many rows there are shows at run time.
// CHECK-LABEL: @dynamic_rows
// CHECK: %[[M:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[M]], %c1
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[ROWS]], %c16
// CHECK: scf.if %[[FEW]] -> (tensor<8x?x128xf32>) {
// CHECK: rope.attention {{.*}}{rope.plan = #rope.cpu_plan<lanes = 16, rows = 1, keys = 1, channels = 8, group = 1, strips = 1, weave = -1, stream = 16, lookup = true>
// CHECK: scf.yield
// CHECK: } else {
// CHECK: rope.attention {{.*}}{rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 4, strips = 24, weave = 16, stream = -1, lookup = true>
// CHECK: scf.yield
func.func @dynamic_rows(%q: tensor<8x?x128xf32>, %k: tensor<8x512x128xf32>, %o: tensor<8x?x128xf32>) -> tensor<8x?x128xf32> {
  %0 = rope.attention ins(%q, %k, %k : tensor<8x?x128xf32>, tensor<8x512x128xf32>, tensor<8x512x128xf32>)
    outs(%o : tensor<8x?x128xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme"> -> tensor<8x?x128xf32>
  return %0 : tensor<8x?x128xf32>
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

// CHECK-LABEL: @results_overlap
// CHECK-NOT: rope.plan
// REMARK: remark: [Missed] linear attention
// REMARK-SAME: Remark="two results may share memory"
func.func @results_overlap(%q: memref<4x4xf32>, %o: memref<4x4xf32>) {
  rope.linear_attention ins(%q, %q, %q : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>)
    outs(%o, %o : memref<4x4xf32>, memref<4x4xf32>) feature_map exp
  return
}

// CHECK-LABEL: @rotations
// CHECK: rope.rotate {{.*}} {rope.plan = #rope.cpu_plan<>}
// CHECK: rope.rerotate {{.*}} {rope.plan = #rope.cpu_plan<>}
// KEPT-LABEL: @rotations
// KEPT: rope.rotate
// REMARK: remark: [Passed] rotation | Category:rope-plan
// REMARK-SAME: Remark="vector code, row by row"
func.func @rotations(%x: tensor<32x8xf32>, %t: tensor<32x2x4xf32>, %o: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = rope.rotate <half along [0]> ins(%x, %t : tensor<32x8xf32>, tensor<32x2x4xf32>) outs(%o : tensor<32x8xf32>) -> tensor<32x8xf32>
  %1 = rope.rerotate <interleaved along [0]> ins(%0, %t : tensor<32x8xf32>, tensor<32x2x4xf32>) outs(%o : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %1 : tensor<32x8xf32>
}

// CHECK-LABEL: @rotation_of_doubles
// CHECK-NOT: rope.plan
// KEPT-LABEL: @rotation_of_doubles
// KEPT-NOT: rope.rotate
// REMARK: remark: [Missed] rotation | Category:rope-plan
// REMARK-SAME: Remark="table is f64, vectors are f32"
func.func @rotation_of_doubles(%x: tensor<32x8xf32>, %t: tensor<2x4xf64>, %o: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = rope.rotate <half along []> ins(%x, %t : tensor<32x8xf32>, tensor<2x4xf64>) outs(%o : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: @rotation_of_many_channels
// KEPT-LABEL: @rotation_of_many_channels
// CHECK-NOT: rope.plan
// REMARK: Remark="1024 channels, vectors have 1 to 512"
func.func @rotation_of_many_channels(%x: tensor<1024xf32>, %t: tensor<2x4xf32>, %o: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = rope.rotate <half along []> ins(%x, %t : tensor<1024xf32>, tensor<2x4xf32>) outs(%o : tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// The table is written over; the input may be.
// CHECK-LABEL: @rotation_over_table
// CHECK-NOT: rope.plan
// REMARK: Remark="an input may share memory with a result"
func.func @rotation_over_table(%x: memref<2x4xf32>, %t: memref<2x4xf32>) {
  rope.rotate <half along [] full = true> ins(%x, %t : memref<2x4xf32>, memref<2x4xf32>) outs(%t : memref<2x4xf32>)
  return
}
// CHECK-LABEL: @rotation_in_place
// CHECK: rope.plan
func.func @rotation_in_place(%x: memref<2x4xf32>, %t: memref<2x2xf32>) {
  rope.rotate <half along []> ins(%x, %t : memref<2x4xf32>, memref<2x2xf32>) outs(%x : memref<2x4xf32>)
  return
}
