// RUN: rope-opt %s --rope-fuse --split-input-file | FileCheck %s

// Heads as a model splits and transposes them, and joins them again: the
// operands are the projections, and what merges heads with channels stays.
// CHECK-LABEL: @transposes
// CHECK: rope.attention ins(%arg0, %arg1, %arg1 : tensor<2x32x4x16xf32>, tensor<2x32x2x16xf32>, tensor<2x32x2x16xf32>)
// CHECK-SAME: rotate_query(%arg2 : {{.*}}) <half along [1]> rotate_key(%arg2 : {{.*}}) <half along [1]>
// CHECK-SAME: layout <query = "bm(hg)d", key = "bnhd", value = "bnhe", output = "bm(hg)e"> -> tensor<2x32x4x16xf32>
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: return
func.func @transposes(%q: tensor<2x32x4x16xf32>, %k: tensor<2x32x2x16xf32>, %t: tensor<32x2x8xf32>) -> tensor<2x32x64xf32> {
  %eq = tensor.empty() : tensor<2x4x32x16xf32>
  %ek = tensor.empty() : tensor<2x2x32x16xf32>
  %eo = tensor.empty() : tensor<2x32x4x16xf32>
  %qt = linalg.transpose ins(%q : tensor<2x32x4x16xf32>) outs(%eq : tensor<2x4x32x16xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x32x2x16xf32>) outs(%ek : tensor<2x2x32x16xf32>) permutation = [0, 2, 1, 3]
  %qr = rope.rotate <half along [2]> ins(%qt, %t : tensor<2x4x32x16xf32>, tensor<32x2x8xf32>) outs(%eq : tensor<2x4x32x16xf32>) -> tensor<2x4x32x16xf32>
  %kr = rope.rotate <half along [2]> ins(%kt, %t : tensor<2x2x32x16xf32>, tensor<32x2x8xf32>) outs(%ek : tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
  %o = rope.attention ins(%qr, %kr, %kt : tensor<2x4x32x16xf32>, tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) outs(%eq : tensor<2x4x32x16xf32>) scale 0.25 -> tensor<2x4x32x16xf32>
  %ot = linalg.transpose ins(%o : tensor<2x4x32x16xf32>) outs(%eo : tensor<2x32x4x16xf32>) permutation = [0, 2, 1, 3]
  %r = tensor.collapse_shape %ot [[0], [1], [2, 3]] : tensor<2x32x4x16xf32> into tensor<2x32x64xf32>
  return %r : tensor<2x32x64xf32>
}

// -----

// RoPER: what turns the output back stands behind what moves it.
// CHECK-LABEL: @output
// CHECK: %[[O:.*]] = rope.attention {{.*}} rerotate_output(%arg1 : {{.*}}) <half along [0]> outs(%arg2 : tensor<32x2x4x16xf32>)
// CHECK-SAME: output = "mbhe"
// CHECK-NEXT: return %[[O]]
func.func @output(%x: tensor<8x32x16xf32>, %t: tensor<32x2x8xf32>, %init: tensor<32x2x4x16xf32>) -> tensor<32x2x4x16xf32> {
  %e = tensor.empty() : tensor<2x4x32x16xf32>
  %e1 = tensor.empty() : tensor<32x2x4x16xf32>
  %q = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [2, 4, 32, 16] : tensor<8x32x16xf32> into tensor<2x4x32x16xf32>
  %o = rope.attention ins(%q, %q, %q : tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) outs(%e : tensor<2x4x32x16xf32>) scale 0.25
    layout <query = "bhmd", output = "bhme"> -> tensor<2x4x32x16xf32>
  %ot = linalg.transpose ins(%o : tensor<2x4x32x16xf32>) outs(%e1 : tensor<32x2x4x16xf32>) permutation = [2, 0, 1, 3]
  %r = rope.rerotate <half along [0]> ins(%ot, %t : tensor<32x2x4x16xf32>, tensor<32x2x8xf32>) outs(%init : tensor<32x2x4x16xf32>) -> tensor<32x2x4x16xf32>
  return %r : tensor<32x2x4x16xf32>
}

// -----

// Groups of heads that were split, or merged, and dims of extent 1.
// CHECK-LABEL: @groups
// CHECK: rope.attention ins(%arg0, %arg1, %arg1 : tensor<4x32x16xf32>, tensor<32x2x16xf32>, tensor<32x2x16xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<4x32x1x16xf32>)
// CHECK-SAME: layout <key = "nhd", value = "nhe", output = "(hg)m1e"> -> tensor<4x32x1x16xf32>
// CHECK-NEXT: return
func.func @groups(%q: tensor<4x32x16xf32>, %k: tensor<32x2x16xf32>) -> tensor<4x32x1x16xf32> {
  %e = tensor.empty() : tensor<2x2x32x16xf32>
  %qg = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [2, 2, 32, 16] : tensor<4x32x16xf32> into tensor<2x2x32x16xf32>
  %kg = tensor.expand_shape %k [[0, 1], [2], [3]] output_shape [1, 32, 2, 16] : tensor<32x2x16xf32> into tensor<1x32x2x16xf32>
  %o = rope.attention ins(%qg, %kg, %kg : tensor<2x2x32x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>) outs(%e : tensor<2x2x32x16xf32>) scale 0.25
    layout <query = "hgmd", key = "bnhd", value = "bnhe", output = "hgme"> -> tensor<2x2x32x16xf32>
  %c = tensor.collapse_shape %o [[0, 1], [2], [3]] : tensor<2x2x32x16xf32> into tensor<4x32x16xf32>
  %r = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [4, 32, 1, 16] : tensor<4x32x16xf32> into tensor<4x32x1x16xf32>
  return %r : tensor<4x32x1x16xf32>
}

// -----

// Repeats along batch and heads: the letter goes. One along the keys stays, and
// so does a transpose that has turned channels elsewhere than last.
// CHECK-LABEL: @repeats
// CHECK: %[[V:.*]] = linalg.broadcast {{.*}} dimensions = [2]
// CHECK: rope.attention ins(%arg0, %arg1, %[[V]] : tensor<2x4x32x16xf32>, tensor<32x16xf32>, tensor<2x4x32x16xf32>)
// CHECK-SAME: layout <query = "bhmd", output = "bhme">
func.func @repeats(%q: tensor<2x4x32x16xf32>, %k: tensor<32x16xf32>, %v: tensor<2x4x16xf32>) -> tensor<2x4x32x16xf32> {
  %e = tensor.empty() : tensor<2x4x32x16xf32>
  %kb = linalg.broadcast ins(%k : tensor<32x16xf32>) outs(%e : tensor<2x4x32x16xf32>) dimensions = [0, 1]
  %vb = linalg.broadcast ins(%v : tensor<2x4x16xf32>) outs(%e : tensor<2x4x32x16xf32>) dimensions = [2]
  %o = rope.attention ins(%q, %kb, %vb : tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) outs(%e : tensor<2x4x32x16xf32>) scale 0.25
    layout <query = "bhmd", output = "bhme"> -> tensor<2x4x32x16xf32>
  return %o : tensor<2x4x32x16xf32>
}

// -----

// CHECK-LABEL: @turned_channels
// CHECK: %[[Q:.*]] = linalg.transpose
// CHECK: rope.attention ins(%[[Q]],
func.func @turned_channels(%q: tensor<16x32xf32>, %k: tensor<32x16xf32>, %t: tensor<32x2x8xf32>) -> tensor<32x16xf32> {
  %e = tensor.empty() : tensor<32x16xf32>
  %qt = linalg.transpose ins(%q : tensor<16x32xf32>) outs(%e : tensor<32x16xf32>) permutation = [1, 0]
  %o = rope.attention ins(%qt, %k, %k : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) rotate_query(%t : tensor<32x2x8xf32>) <half along [0]> outs(%e : tensor<32x16xf32>) scale 0.25 -> tensor<32x16xf32>
  return %o : tensor<32x16xf32>
}

// -----

// Dims that are no group: batch with heads, heads of unknown number, channels.
// CHECK-LABEL: @no_letters
// CHECK-COUNT-3: tensor.collapse_shape
// CHECK: rope.attention {{.*}} layout <query = "b(hg)md", output = "b(hg)me">
// CHECK: return
func.func @no_letters(%q: tensor<2x?x?x32x16xf32>, %k: tensor<2x?x32x16xf32>, %v: tensor<2x?x32x4x4xf32>, %m: tensor<3x2x32x32xi1>, %n: index) -> tensor<2x?x32x16xf32> {
  %qc = tensor.collapse_shape %q [[0], [1, 2], [3], [4]] : tensor<2x?x?x32x16xf32> into tensor<2x?x32x16xf32>
  %vc = tensor.collapse_shape %v [[0], [1], [2], [3, 4]] : tensor<2x?x32x4x4xf32> into tensor<2x?x32x16xf32>
  %e = tensor.empty(%n) : tensor<2x?x32x16xf32>
  %mask = tensor.collapse_shape %m [[0, 1], [2], [3]] : tensor<3x2x32x32xi1> into tensor<6x32x32xi1>
  %o = rope.attention ins(%qc, %k, %vc : tensor<2x?x32x16xf32>, tensor<2x?x32x16xf32>, tensor<2x?x32x16xf32>) mask(%mask : tensor<6x32x32xi1>) outs(%e : tensor<2x?x32x16xf32>) scale 0.25 layout <query = "b(hg)md", output = "b(hg)me"> -> tensor<2x?x32x16xf32>
  return %o : tensor<2x?x32x16xf32>
}

// -----

// Another user of the output reads it as it is.
// CHECK-LABEL: @two_users
// CHECK: %[[O:.*]] = rope.attention
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[O]]
// CHECK: return %[[O]], %[[T]]
func.func @two_users(%x: tensor<4x32x16xf32>) -> (tensor<4x32x16xf32>, tensor<32x4x16xf32>) {
  %e = tensor.empty() : tensor<4x32x16xf32>
  %f = tensor.empty() : tensor<32x4x16xf32>
  %o = rope.attention ins(%x, %x, %x : tensor<4x32x16xf32>, tensor<4x32x16xf32>, tensor<4x32x16xf32>) outs(%e : tensor<4x32x16xf32>) scale 0.25 layout <query = "hmd", output = "hme"> -> tensor<4x32x16xf32>
  %t = linalg.transpose ins(%o : tensor<4x32x16xf32>) outs(%f : tensor<32x4x16xf32>) permutation = [1, 0, 2]
  return %o, %t : tensor<4x32x16xf32>, tensor<32x4x16xf32>
}

// -----

// A mask that is the same for all heads, spelled out.
// CHECK-LABEL: @mask
// CHECK: rope.attention {{.*}} mask(%arg1 : tensor<32x32xi1>) outs
// CHECK-NOT: layout
func.func @mask(%x: tensor<2x4x32x16xf32>, %m: tensor<32x32xi1>) -> tensor<2x4x32x16xf32> {
  %e = tensor.empty() : tensor<2x4x32x16xf32>
  %em = tensor.empty() : tensor<2x4x32x32xi1>
  %mb = linalg.broadcast ins(%m : tensor<32x32xi1>) outs(%em : tensor<2x4x32x32xi1>) dimensions = [0, 1]
  %o = rope.attention ins(%x, %x, %x : tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) mask(%mb : tensor<2x4x32x32xi1>) outs(%e : tensor<2x4x32x16xf32>) scale 0.25 -> tensor<2x4x32x16xf32>
  return %o : tensor<2x4x32x16xf32>
}
