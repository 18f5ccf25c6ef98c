// Elementwise ops that alone read products work on a panel as soon as it is
// computed.

// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// Two products, in memory for one panel of each.
// CHECK-LABEL: func @gate
// CHECK: %[[INIT:.*]] = tensor.empty() : tensor<32x128xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64 iter_args(%{{.*}} = %[[INIT]]) -> (tensor<32x128xf32>)
// CHECK: tensor.empty() : tensor<32x64xf32>
// CHECK: vector.contract
// CHECK: tensor.empty() : tensor<32x64xf32>
// CHECK: vector.contract
// CHECK: arith.mulf {{.*}}vector<64xf32>
// CHECK-NOT: scf.for %{{.*}} = %c0 to %c128
// CHECK: return
func.func @gate(%x: tensor<32x24xf32>, %v: tensor<24x128xf32>, %w: tensor<24x128xf32>) -> tensor<32x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  %p = linalg.matmul ins(%x, %v : tensor<32x24xf32>, tensor<24x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %q = linalg.matmul ins(%x, %w : tensor<32x24xf32>, tensor<24x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<32x128xf32>, tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Sizes that are asked of the product do not keep it.
// CHECK-LABEL: func @dynamic
// CHECK-NOT: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK: tensor.empty(%{{.*}}) : tensor<?x64xf32>
// CHECK: return
func.func @dynamic(%x: tensor<?x24xbf16>, %w: tensor<24x?xbf16>) -> tensor<?x?xbf16> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x24xbf16>
  %n = tensor.dim %w, %c1 : tensor<24x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x24xbf16>, tensor<24x?xbf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %pm = tensor.dim %p, %c0 : tensor<?x?xf32>
  %pn = tensor.dim %p, %c1 : tensor<?x?xf32>
  %g = tensor.empty(%pm, %pn) : tensor<?x?xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf32>) outs(%g : tensor<?x?xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Another reader wants the whole product, and one that starts from given sums is
// written over them.
// CHECK-LABEL: func @two_readers
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: vector.contract
// CHECK: vector.transfer_read %[[WHOLE]][
// CHECK: arith.negf
// CHECK: return %[[WHOLE]], %
func.func @two_readers(%x: tensor<32x24xf32>, %w: tensor<24x128xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x24xf32>, tensor<24x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x128xf32>
  return %p, %r : tensor<32x128xf32>, tensor<32x128xf32>
}

// CHECK-LABEL: func @over_sums
// CHECK-NOT: tensor.empty() : tensor<32x64xf32>
// CHECK: arith.negf
// CHECK: return
func.func @over_sums(%x: tensor<32x24xf32>, %w: tensor<24x128xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<32x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x24xf32>, tensor<24x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A reader that takes the product twice, one that turns it, one of a single
// panel and one in another block read all of it.
// CHECK-LABEL: func @read_twice
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: vector.contract
// CHECK: %[[WHOLE]][
// CHECK: arith.subf
func.func @read_twice(%x: tensor<128x24xf32>, %w: tensor<24x128xf32>) -> tensor<128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<128x24xf32>, tensor<24x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %p : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// CHECK-LABEL: func @transposed
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: vector.contract
// CHECK: %[[WHOLE]][
// CHECK: arith.negf
func.func @transposed(%x: tensor<128x24xf32>, %w: tensor<24x128xf32>) -> tensor<128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<128x24xf32>, tensor<24x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// CHECK-LABEL: func @one_panel
// CHECK: vector.contract
// CHECK: vector.transfer_write {{.*}} : vector<5x64xf32>, tensor<5x40xf32>
// CHECK: arith.negf
func.func @one_panel(%x: tensor<32x24xf32>, %w: tensor<24x40xf32>) -> tensor<32x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x24xf32>, tensor<24x40xf32>) outs(%f : tensor<32x40xf32>) -> tensor<32x40xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  return %r : tensor<32x40xf32>
}

// CHECK-LABEL: func @another_block
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: vector.contract
// CHECK: scf.if
// CHECK: vector.transfer_read %[[WHOLE]][
// CHECK: arith.negf
func.func @another_block(%x: tensor<32x24xf32>, %w: tensor<24x128xf32>, %c: i1, %d: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x24xf32>, tensor<24x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %s = scf.if %c -> tensor<32x128xf32> {
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.negf %a : f32
      linalg.yield %0 : f32
    } -> tensor<32x128xf32>
    scf.yield %r : tensor<32x128xf32>
  } else {
    scf.yield %d : tensor<32x128xf32>
  }
  return %s : tensor<32x128xf32>
}

// Few rows would be read again for each panel, and products of one row for each
// of an outer dim have no panels.
// CHECK-LABEL: func @few_rows
// CHECK-NOT: tensor.empty() : tensor<15x64xf32>
// CHECK: arith.negf
func.func @few_rows(%x: tensor<15x24xf32>, %w: tensor<24x128xf32>) -> tensor<15x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<15x128xf32>) -> tensor<15x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<15x24xf32>, tensor<24x128xf32>) outs(%f : tensor<15x128xf32>) -> tensor<15x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<15x128xf32>) outs(%e : tensor<15x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<15x128xf32>
  return %r : tensor<15x128xf32>
}

// CHECK-LABEL: func @outer
// CHECK-NOT: tensor.empty() : tensor<32x64xf32>
// CHECK: arith.negf
func.func @outer(%x: tensor<32x24xf32>, %w: tensor<32x24x128xf32>) -> tensor<32x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, j, k) -> (b, k)>, affine_map<(b, j, k) -> (b, k, j)>, affine_map<(b, j, k) -> (b, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x24xf32>, tensor<32x24x128xf32>) outs(%f : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<32x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}
