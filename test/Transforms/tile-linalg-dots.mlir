// Products of bf16 that are summed in f32, on a target with dot products of pairs.

// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg=dots | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-normalize-linalg --rope-tile-linalg | FileCheck %s --check-prefix=NONE
// RUN: not rope-opt %s --split-input-file --rope-tile-linalg="dots lanes=32" 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: rope-tile-linalg: dots wants up to 16 lanes, not 32
// NONE-NOT: x86vector

// Packing pairs of a weight as torch has it transposes words. A step of the inner
// loop reads a pair of each of 6 rows, and multiplies it by 64 columns.
// CHECK-LABEL: func @linear
// CHECK: tensor.empty() : tensor<32x128xbf16>
// CHECK: %[[ROWS:.*]] = vector.transfer_read %arg1[{{.*}}in_bounds = [true, true]} : tensor<128x64xbf16>, vector<16x32xbf16>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[ROWS]] : vector<16x32xbf16> to vector<16x16xi32>
// CHECK: %[[TURNED:.*]] = vector.transpose %[[WORDS]], [1, 0]
// CHECK: vector.bitcast %[[TURNED]] : vector<16x16xi32> to vector<16x32xbf16>
// CHECK: vector.transfer_write
// CHECK: scf.for %{{.*}} step %c6
// CHECK:   scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// CHECK-COUNT-4: vector.transfer_read {{.*}}tensor<32x128xbf16>, vector<32xbf16>
// CHECK:     %[[PAIR:.*]] = vector.transfer_read %arg0{{.*}}vector<2xbf16>
// CHECK:     %[[WORD:.*]] = vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// CHECK-NOT: vector.transfer_write
// CHECK-COUNT-24: x86vector.avx512.dot
// CHECK-NOT: x86vector
// CHECK:     scf.yield
// After two such tiles three of five rows.
// CHECK: scf.for %{{.*}} step %c5
// CHECK-COUNT-20: x86vector.avx512.dot
// CHECK-NOT: x86vector
// CHECK-NOT: linalg
// CHECK: return
func.func @linear(%x: tensor<27x64xbf16>, %w: tensor<128x64xbf16>, %init: tensor<27x128xf32>) -> tensor<27x128xf32> {
  %e = tensor.empty() : tensor<64x128xbf16>
  %t = linalg.transpose ins(%w : tensor<128x64xbf16>) outs(%e : tensor<64x128xbf16>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<27x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<27x128xf32>) -> tensor<27x128xf32>
  return %r : tensor<27x128xf32>
}

// -----

// Of a weight that is stored along its columns, the rows of two steps are merged.
// An odd step has no second row, and 36 columns are half of a panel.
// CHECK-LABEL: func @odd
// CHECK: tensor.empty() : tensor<16x128xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %c10 step %c1
// CHECK-COUNT-2: vector.transfer_read %arg1[%{{[0-9]+}}, %c0], %cst_{{[0-9]+}} : tensor<21x36xbf16>, vector<64xbf16>
// CHECK: vector.interleave
// CHECK: %[[LAST:.*]] = vector.transfer_read %arg1[%c20{{.*}}vector<64xbf16>
// CHECK: vector.interleave %[[LAST]], %cst
// CHECK: scf.for %{{.*}} = %c0 to %c10 step %c1
// CHECK-COUNT-24: x86vector.avx512.dot
// CHECK: scf.yield
// CHECK: %[[A:.*]] = tensor.extract %{{.*}}, %c20]
// CHECK: vector.from_elements %[[A]], %cst
// CHECK-COUNT-24: x86vector.avx512.dot
// CHECK: vector.transfer_write %{{[0-9]+}}, %{{[0-9]+}}[%c0, %c32] : vector<16xf32>, tensor<6x36xf32>
func.func @odd(%x: tensor<18x21xbf16>, %w: tensor<21x36xbf16>, %init: tensor<18x36xf32>) -> tensor<18x36xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<18x21xbf16>, tensor<21x36xbf16>) outs(%init : tensor<18x36xf32>) -> tensor<18x36xf32>
  return %r : tensor<18x36xf32>
}

// -----

// A long sum runs in blocks of an even number of steps.
// CHECK-LABEL: func @long
// CHECK: scf.for %{{.*}} = %c0 to %c5000 step %c1680
// CHECK: tensor.empty() : tensor<848x128xbf16>
func.func @long(%x: tensor<24x5000xbf16>, %w: tensor<64x5000xbf16>, %init: tensor<24x64xf32>) -> tensor<24x64xf32> {
  %e = tensor.empty() : tensor<5000x64xbf16>
  %t = linalg.transpose ins(%w : tensor<64x5000xbf16>) outs(%e : tensor<5000x64xbf16>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<24x5000xbf16>, tensor<5000x64xbf16>) outs(%init : tensor<24x64xf32>) -> tensor<24x64xf32>
  return %r : tensor<24x64xf32>
}

// -----

// One row by a weight that is stored along the sum: pairs lie in lanes, and the
// weight is read where it is.
// CHECK-LABEL: func @one_row
// CHECK: scf.for %{{.*}} step %c4
// CHECK:   scf.for
// CHECK:     vector.transfer_read %{{.*}} : tensor<2048xbf16>, vector<32xbf16>
// CHECK:     vector.transfer_read %arg1[{{.*}}vector<32xbf16>
// CHECK-COUNT-16: x86vector.avx512.dot
// CHECK:     scf.yield
// CHECK-COUNT-4: vector.reduction <add>
func.func @one_row(%x: tensor<1x2048xbf16>, %w: tensor<128x2048xbf16>, %init: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %e = tensor.empty() : tensor<2048x128xbf16>
  %t = linalg.transpose ins(%w : tensor<128x2048xbf16>) outs(%e : tensor<2048x128xbf16>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<1x2048xbf16>, tensor<2048x128xbf16>) outs(%init : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// -----

// One row by a weight that is stored along many columns: pairs are put together
// from the rows of the weight as these are read, and added to a result that stays
// in cache. Of 1029 columns five are left.
// CHECK-LABEL: func @stream
// CHECK-NOT: tensor<{{[0-9]+}}x128xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK:   scf.for %{{.*}} = %c0 to %c1024 step %c64
// CHECK:     vector.transfer_read {{.*}}in_bounds = [true]} : tensor<65x1029xbf16>, vector<16xbf16>
// CHECK:     vector.interleave {{.*}} : vector<16xbf16>
// CHECK:     x86vector.avx512.dot
// CHECK:   vector.transfer_read %{{.*}}[%c0], %cst{{(_[0-9]+)?}} : tensor<5xf32>, vector<16xf32>
// CHECK:   x86vector.avx512.dot
// CHECK-NOT: linalg
// CHECK: return
func.func @stream(%x: tensor<1x65xbf16>, %w: tensor<65x1029xbf16>, %init: tensor<1x1029xf32>) -> tensor<1x1029xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<1x65xbf16>, tensor<65x1029xbf16>) outs(%init : tensor<1x1029xf32>) -> tensor<1x1029xf32>
  return %r : tensor<1x1029xf32>
}

// -----

// Pairs of steps do not lie side by side in rows that are stored across them.
// CHECK-LABEL: func @rows_across
// CHECK-NOT: x86vector
// CHECK: return
func.func @rows_across(%x: tensor<64x24xbf16>, %w: tensor<64x128xbf16>, %init: tensor<24x128xf32>) -> tensor<24x128xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x24xbf16>, tensor<64x128xbf16>) outs(%init : tensor<24x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %c : f32
    linalg.yield %3 : f32
  } -> tensor<24x128xf32>
  return %r : tensor<24x128xf32>
}

// -----

// The instruction is for bf16, summed in f32.
// CHECK-LABEL: func @half
// CHECK-NOT: x86vector
// CHECK: return
func.func @half(%x: tensor<24x64xf16>, %w: tensor<64x128xf16>, %init: tensor<24x128xf32>) -> tensor<24x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<24x64xf16>, tensor<64x128xf16>) outs(%init : tensor<24x128xf32>) -> tensor<24x128xf32>
  return %r : tensor<24x128xf32>
}

// CHECK-LABEL: func @one_narrow
// CHECK-NOT: x86vector
// CHECK: return
func.func @one_narrow(%x: tensor<24x64xf32>, %w: tensor<64x128xbf16>, %init: tensor<24x128xf32>) -> tensor<24x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<24x64xf32>, tensor<64x128xbf16>) outs(%init : tensor<24x128xf32>) -> tensor<24x128xf32>
  return %r : tensor<24x128xf32>
}

// CHECK-LABEL: func @summed_in_f64
// CHECK-NOT: x86vector
// CHECK: return
func.func @summed_in_f64(%x: tensor<24x64xbf16>, %w: tensor<64x128xbf16>, %init: tensor<24x128xf64>) -> tensor<24x128xf64> {
  %r = linalg.matmul ins(%x, %w : tensor<24x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<24x128xf64>) -> tensor<24x128xf64>
  return %r : tensor<24x128xf64>
}

// -----

// Pairs of steps are those of one sum of rows by columns: not of two sums at a
// time, nor for a result that is turned. Batches are taken one by one.
// CHECK-LABEL: func @two_sums
// CHECK-NOT: x86vector
// CHECK: return
func.func @two_sums(%x: tensor<24x4x16xbf16>, %w: tensor<4x16x128xbf16>, %init: tensor<24x128xf32>) -> tensor<24x128xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (k, l, j)>, affine_map<(i, j, k, l) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<24x4x16xbf16>, tensor<4x16x128xbf16>) outs(%init : tensor<24x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %c : f32
    linalg.yield %3 : f32
  } -> tensor<24x128xf32>
  return %r : tensor<24x128xf32>
}

// CHECK-LABEL: func @batches
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: x86vector.avx512.dot
// CHECK: return
func.func @batches(%x: tensor<3x24x64xbf16>, %w: tensor<3x64x128xbf16>, %init: tensor<3x24x128xf32>) -> tensor<3x24x128xf32> {
  %r = linalg.batch_matmul ins(%x, %w : tensor<3x24x64xbf16>, tensor<3x64x128xbf16>) outs(%init : tensor<3x24x128xf32>) -> tensor<3x24x128xf32>
  return %r : tensor<3x24x128xf32>
}

// CHECK-LABEL: func @turned_result
// CHECK-NOT: x86vector
// CHECK: return
func.func @turned_result(%x: tensor<24x64xbf16>, %w: tensor<64x128xbf16>, %init: tensor<128x24xf32>) -> tensor<128x24xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<128x24xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %c : f32
    linalg.yield %3 : f32
  } -> tensor<128x24xf32>
  return %r : tensor<128x24xf32>
}
