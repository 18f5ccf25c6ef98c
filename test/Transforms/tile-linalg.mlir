// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg=lanes=8 | FileCheck %s --check-prefix=EIGHT
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg="lanes=8 registers=16" | FileCheck %s --check-prefix=FEW
// RUN: not rope-opt %s --split-input-file --rope-tile-linalg=lanes=12 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not rope-opt %s --split-input-file --rope-tile-linalg=registers=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg --verify-diagnostics -o /dev/null

// NONE: rope-tile-linalg: registers must be positive, not 0
// BAD: rope-tile-linalg: lanes must be a power of two from 4 to 64, not 12

// A panel of the transposed weight is packed by 16 x 16 transposes; the loop
// over the sum carries vectors and writes no memory.
// CHECK-LABEL: func @linear
// CHECK: scf.for
// CHECK:   vector.transfer_read %arg1[{{.*}} : tensor<128x64xf32>, vector<16x16xf32>
// CHECK:   vector.transpose
// CHECK:   vector.transfer_write
// CHECK:   scf.for %{{.*}} step %c6
// CHECK:     scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<6x64xf32>)
// CHECK-NOT:   transfer_write
// CHECK:       %[[A:.*]] = vector.transfer_read %arg0[{{.*}}vector<6x1xf32>
// CHECK-NEXT:  %[[B:.*]] = vector.transfer_read {{.*}}vector<1x64xf32>
// CHECK-NEXT:  %[[NEXT:.*]] = vector.contract {{.*}} %[[A]], %[[B]], %[[ACC]]
// CHECK-NEXT:  scf.yield %[[NEXT]]
// 33 rows are three times six and three times five.
// CHECK:   scf.for %{{.*}} = %c0 to %c15 step %c5
// CHECK:     scf.for {{.*}} -> (vector<5x64xf32>)
// CHECK-NOT: linalg
// EIGHT-LABEL: func @linear
// EIGHT: scf.for {{.*}} -> (vector<6x32xf32>)
// Twelve sums leave room in sixteen registers.
// FEW-LABEL: func @linear
// FEW: scf.for {{.*}} -> (vector<6x16xf32>)
func.func @linear(%a: tensor<33x64xf32>, %b: tensor<128x64xf32>) -> tensor<33x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%b : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<33x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<33x128xf32>) -> tensor<33x128xf32>
  %r = linalg.matmul ins(%a, %t : tensor<33x64xf32>, tensor<64x128xf32>) outs(%f : tensor<33x128xf32>) -> tensor<33x128xf32>
  return %r : tensor<33x128xf32>
}

// -----

// A long sum runs in blocks: a packed panel of each stays in cache. Only the
// first starts from the fill.
// CHECK-LABEL: func @long
// CHECK: scf.for %[[K:.*]] = %c0 to %c2500 step %c848 iter_args({{.*}}) -> (tensor<64x64xf32>)
// CHECK:   %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK:   bufferization.alloc_tensor() : tensor<848x64xf32>
// CHECK:   vector.transpose
// CHECK:   scf.for %{{.*}} step %c6
// CHECK:     %[[OLD:.*]] = vector.transfer_read {{.*}}vector<6x64xf32>
// CHECK:     %[[MASK:.*]] = vector.broadcast %[[FIRST]]
// CHECK:     %[[START:.*]] = arith.select %[[MASK]], %{{.*}}, %[[OLD]]
// CHECK:     scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %[[START]]) -> (vector<6x64xf32>)
func.func @long(%a: tensor<64x2500xf32>, %b: tensor<64x2500xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2500x64xf32>
  %t = linalg.transpose ins(%b : tensor<64x2500xf32>) outs(%e : tensor<2500x64xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %t : tensor<64x2500xf32>, tensor<2500x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Every dim dynamic: whole tiles in vectors, single rows, and then the same for
// a panel that is not full, of which only what there is is read and stored.
// CHECK-LABEL: func @dynamic
// CHECK: scf.for {{.*}} -> (vector<6x64xf32>)
// CHECK: scf.for {{.*}} -> (vector<1x64xf32>)
// CHECK: bufferization.alloc_tensor() : tensor<1024x64xf32>
// CHECK: %[[OLD:.*]] = vector.transfer_read {{.*}}in_bounds = [true, false]} : tensor<6x?xf32>, vector<6x64xf32>
// CHECK: %[[NEW:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[OLD]]) -> (vector<6x64xf32>)
// CHECK: vector.transfer_write %[[NEW]], {{.*}}in_bounds = [true, false]} : vector<6x64xf32>, tensor<6x?xf32>
// CHECK: scf.for {{.*}} -> (vector<1x64xf32>)
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @dynamic(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// bf16 is packed as f32, summed in f32 and rounded once.
// CHECK-LABEL: func @narrow
// CHECK: scf.for {{.*}} -> (tensor<32x64xf32>, vector<6x64xf32>)
// CHECK: arith.extf {{.*}} : vector<{{.*}}xbf16> to
// CHECK: scf.for {{.*}} -> (vector<5x64xf32>)
// CHECK: arith.truncf
func.func @narrow(%a: tensor<16x32xbf16>, %b: tensor<32x64xbf16>) -> tensor<16x64xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<16x64xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<16x64xbf16>) -> tensor<16x64xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<16x32xbf16>, tensor<32x64xbf16>) outs(%f : tensor<16x64xbf16>) -> tensor<16x64xbf16>
  return %r : tensor<16x64xbf16>
}

// -----

// 36 of 100 columns are left: a full panel, which starts from the fill.
// CHECK-LABEL: func @odd
// CHECK: scf.for {{.*}} -> (tensor<20x64xf32>, vector<6x64xf32>)
// CHECK: scf.for {{.*}} -> (vector<5x64xf32>)
// CHECK: bufferization.alloc_tensor() : tensor<20x64xf32>
// CHECK: %[[NEW:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %cst{{.*}}) -> (vector<6x64xf32>)
// CHECK: vector.transfer_write %[[NEW]], {{.*}}in_bounds = [true, false]} : vector<6x64xf32>, tensor<6x36xf32>
// CHECK: scf.for {{.*}} -> (vector<5x64xf32>)
// CHECK-NOT: linalg
// CHECK: return
func.func @odd(%a: tensor<16x20xf32>, %b: tensor<20x100xf32>) -> tensor<16x100xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x100xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x100xf32>) -> tensor<16x100xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x20xf32>, tensor<20x100xf32>) outs(%f : tensor<16x100xf32>) -> tensor<16x100xf32>
  return %r : tensor<16x100xf32>
}

// -----

// One row by a weight that is stored along many columns: four rows of the weight
// are read from end to end, and added to a result that stays in cache.
// CHECK-LABEL: func @stream
// CHECK: scf.for %{{.*}} = %c0 to %c160 step %c4
// CHECK:   scf.for %{{.*}} = %c0 to %c1024 step %c64
// CHECK:     vector.transfer_read %{{.*}} : tensor<162x1024xf32>, vector<4x64xf32>
// CHECK:     vector.contract {{.*}} vector<4x64xf32> into vector<64xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c64
// CHECK:   vector.transfer_read %{{.*}} : tensor<162x1024xf32>, vector<2x64xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @stream(%a: tensor<1x162xf32>, %b: tensor<162x1024xf32>) -> tensor<1x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x162xf32>, tensor<162x1024xf32>) outs(%f : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  return %r : tensor<1x1024xf32>
}

// -----

// A few rows by such a weight: each vector of both serves several sums.
// CHECK-LABEL: func @few
// CHECK: scf.for %[[J:.*]] = %c0 to %c128 step %c4
// CHECK:   scf.for %{{.*}} = %c0 to %c256 step %c16 {{.*}} -> (vector<3x4x16xf32>)
// CHECK:     vector.transfer_read %arg0[%c0, {{.*}} vector<3x16xf32>
// CHECK:     vector.transfer_read %arg1[%[[J]], {{.*}} vector<4x16xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @few(%a: tensor<3x256xf32>, %b: tensor<128x256xf32>, %c: tensor<3x128xf32>) -> tensor<3x128xf32> {
  %e = tensor.empty() : tensor<256x128xf32>
  %t = linalg.transpose ins(%b : tensor<128x256xf32>) outs(%e : tensor<256x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<3x256xf32>, tensor<256x128xf32>) outs(%c : tensor<3x128xf32>) -> tensor<3x128xf32>
  return %r : tensor<3x128xf32>
}

// -----

// One row by a weight that is stored along the sum: nothing is packed, partial
// sums of four rows of the weight lie in lanes.
// CHECK-LABEL: func @decode
// CHECK: scf.for %[[J:.*]] = %c0 to %c128 step %c4
// CHECK:   scf.for {{.*}} -> (vector<4x64xf32>)
// CHECK:     vector.transfer_read %arg1[%[[J]], {{.*}} vector<4x64xf32>
// CHECK:     %[[P:.*]] = arith.mulf {{.*}} fastmath<contract>
// CHECK:     arith.addf %{{.*}}, %[[P]] fastmath<contract>
// CHECK:   vector.multi_reduction <add>, {{.*}} [1] : vector<4x64xf32> to vector<4xf32>
// CHECK-NOT: vector.transpose
// CHECK: return
func.func @decode(%a: tensor<1x256xf32>, %b: tensor<128x256xf32>) -> tensor<1x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %t = linalg.transpose ins(%b : tensor<128x256xf32>) outs(%e : tensor<256x128xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<1x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x128xf32>) -> tensor<1x128xf32>
  %r = linalg.matmul ins(%a, %t : tensor<1x256xf32>, tensor<256x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// -----

#row = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j) -> (i)>

// The four ops of a softmax share one loop over rows, and what they hand on is
// one row large.
// CHECK-LABEL: func @softmax
// CHECK: scf.for {{.*}} -> (tensor<32x128xf32>)
// CHECK:   scf.for {{.*}} -> (vector<64xf32>)
// CHECK:     arith.maximumf
// CHECK:   tensor.empty() : tensor<1x128xf32>
// CHECK:   math.exp {{.*}} : vector<64xf32>
// CHECK:   scf.for {{.*}} -> (vector<64xf32>)
// CHECK:     arith.addf
// CHECK:   arith.divf {{.*}} : vector<64xf32>
// CHECK:   tensor.insert_slice {{.*}} into tensor<32x128xf32>
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @softmax(%x: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<32xf32>
  %e1 = tensor.empty() : tensor<32x128xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
  %m = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %p = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<32x128xf32>, tensor<32xf32>) outs(%e1 : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<32x128xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<32x128xf32>) outs(%f1 : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  %r = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<32x128xf32>, tensor<32xf32>) outs(%e1 : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

// What has no vector form stays: gathers, complex numbers, bits in memory,
// dims that do not fill a small vector.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func @unusual
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: vector
func.func @unusual(%t: tensor<9xf32>, %i: tensor<64xindex>, %z: tensor<64xcomplex<f32>>,
                   %b: tensor<64xi1>, %n: tensor<3xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %e1 = tensor.empty() : tensor<64xi1>
  %e3 = tensor.empty() : tensor<3xf32>
  %true = arith.constant true
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<64xindex>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: index, %o: f32):
    %v = tensor.extract %t[%a] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%z : tensor<64xcomplex<f32>>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %v = complex.re %a : complex<f32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : tensor<64xi1>) outs(%e1 : tensor<64xi1>) {
  ^bb0(%a: i1, %o: i1):
    %v = arith.xori %a, %true : i1
    linalg.yield %v : i1
  } -> tensor<64xi1>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%n : tensor<3xf32>) outs(%e3 : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64xi1>, tensor<3xf32>
}

// -----

#lhs = affine_map<(i, j, k) -> (k, i)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// A sum over nothing has no tiles.
// CHECK-LABEL: func @empty
// CHECK: linalg.generic
func.func @empty(%a: tensor<0x16xf32>, %b: tensor<0x32xf32>, %o: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<0x16xf32>, tensor<0x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

#row = affine_map<(i, j) -> (i)>
#cell = affine_map<(i, j) -> (i, j)>

// One element of a column is read as an element: a transfer of no dims from
// strided memory has no lowering.
// CHECK-LABEL: func @column
// CHECK-NOT: vector<f32>
// CHECK: return
func.func @column(%a: tensor<3x9xf32>, %o: tensor<3x16xf32>, %k: index) -> tensor<3x16xf32> {
  %s = tensor.extract_slice %a[0, %k] [3, 1] [1, 1] : tensor<3x9xf32> to tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["parallel", "parallel"]}
    ins(%s : tensor<3xf32>) outs(%o : tensor<3x16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.negf %x : f32
    linalg.yield %1 : f32
  } -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

// Every row reads one element, or every other one.
// CHECK-LABEL: func @elements
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @elements(%x: tensor<8x32xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x16xf32>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j * 2)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// An index in the body of a sum counts from the start of the whole, in each
// vector of it.
// CHECK-LABEL: func @index_of_sum
// CHECK: %[[STEP:.*]] = vector.step : vector<64xindex>
// CHECK: scf.for %[[AT:.*]] = %c0 to %c256 step %c64
// CHECK: %[[FIRST:.*]] = vector.broadcast %[[AT]] : index to vector<64xindex>
// CHECK: arith.addi %[[FIRST]], %[[STEP]] : vector<64xindex>
func.func @index_of_sum(%x: tensor<256xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<256xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %c100 = arith.constant 100 : index
    %zero = arith.constant 0.0 : f32
    %seen = arith.cmpi ult, %i, %c100 : index
    %c = arith.select %seen, %a, %zero : f32
    %sum = arith.addf %b, %c : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A reduction of no single op with a neutral element, as the position of the
// largest, stays as it is. Nothing is reported of it.
// CHECK-LABEL: func @position_of_largest
// CHECK: linalg.generic
func.func @position_of_largest(%x: tensor<256xf32>, %m: tensor<f32>, %p: tensor<i64>) -> (tensor<f32>, tensor<i64>) {
  %0:2 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<256xf32>) outs(%m, %p : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %largest: f32, %at: i64):
    %i = linalg.index 0 : index
    %here = arith.index_cast %i : index to i64
    %max = arith.maximumf %a, %largest : f32
    %more = arith.cmpf ogt, %a, %largest : f32
    %position = arith.select %more, %here, %at : i64
    linalg.yield %max, %position : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %0#0, %0#1 : tensor<f32>, tensor<i64>
}
