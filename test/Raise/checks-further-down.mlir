// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s

// What is equal to a number that is computed further down is not written by it.

// CHECK-LABEL: @rotation(
// CHECK-SAME: %[[POSITION:[a-z0-9]*]]: i64
// CHECK: %[[START:.*]] = arith.index_cast %[[POSITION]] : i64 to index
// CHECK: rope.table #rope.default<1.600000e+01> ins(%[[START]] : index)
// CHECK: rope.rotate
// CHECK: call @count
func.func private @count(tensor<8x8xf32>) -> i64
func.func @rotation(%x: tensor<8x8xf32>, %position: i64) -> tensor<8x8xf32> {
  %w = arith.constant dense<[1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125]> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %angle = linalg.generic {indexing_maps = [affine_map<(m, d) -> (d)>, affine_map<(m, d) -> (m, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.addi %j, %position : i64
    %f = arith.sitofp %k : i64 to f32
    %m = arith.mulf %f, %in : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %cos = math.cos %angle : tensor<8x8xf32>
  %sin = math.sin %angle : tensor<8x8xf32>
  %a = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %nb = arith.negf %b : tensor<8x4xf32>
  %r = tensor.concat dim(1) %nb, %a : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %p = arith.mulf %x, %cos : tensor<8x8xf32>
  %q = arith.mulf %r, %sin : tensor<8x8xf32>
  %y = arith.addf %p, %q : tensor<8x8xf32>
  %n = call @count(%y) : (tensor<8x8xf32>) -> i64
  %same = arith.cmpi eq, %n, %position : i64
  cf.assert %same, "counted"
  return %y : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: @given_by_call(
// CHECK: %[[POSITION:.*]] = call @given
// CHECK: %[[START:.*]] = arith.index_cast %[[POSITION]] : i64 to index
// CHECK: rope.table #rope.default<1.600000e+01> ins(%[[START]] : index)
// CHECK: rope.rotate
// CHECK: call @count
func.func private @given() -> i64
func.func private @count(tensor<8x8xf32>) -> i64
func.func @given_by_call(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %position = call @given() : () -> i64
  %w = arith.constant dense<[1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125]> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %angle = linalg.generic {indexing_maps = [affine_map<(m, d) -> (d)>, affine_map<(m, d) -> (m, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.addi %j, %position : i64
    %f = arith.sitofp %k : i64 to f32
    %m = arith.mulf %f, %in : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %cos = math.cos %angle : tensor<8x8xf32>
  %sin = math.sin %angle : tensor<8x8xf32>
  %a = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %nb = arith.negf %b : tensor<8x4xf32>
  %r = tensor.concat dim(1) %nb, %a : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %p = arith.mulf %x, %cos : tensor<8x8xf32>
  %q = arith.mulf %r, %sin : tensor<8x8xf32>
  %y = arith.addf %p, %q : tensor<8x8xf32>
  %n = call @count(%y) : (tensor<8x8xf32>) -> i64
  %same = arith.cmpi eq, %n, %position : i64
  cf.assert %same, "counted"
  return %y : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: @update(
// CHECK-SAME: %[[POSITION:[a-z0-9]*]]: index
// CHECK: arith.minsi %[[POSITION]],
// CHECK: tensor.insert_slice
// CHECK: call @count
func.func private @count(tensor<64x4xf32>) -> index
func.func @update(%old: tensor<64x4xf32>, %new: f32, %position: index) -> tensor<64x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(s, d) -> (s, d)>], iterator_types = ["parallel", "parallel"]} outs(%old : tensor<64x4xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %position : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<64x4xf32>
  %n = call @count(%r) : (tensor<64x4xf32>) -> index
  %same = arith.cmpi eq, %n, %position : index
  cf.assert %same, "counted"
  return %r : tensor<64x4xf32>
}
