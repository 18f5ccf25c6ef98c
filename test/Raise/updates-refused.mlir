// RUN: rope-opt --rope-raise=explain=true --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=EXPLAIN --input-file %t.remarks

// What looks like an update of one index, but is not one, or cannot run at one
// index alone.

// Maps by which a part of the result takes no part of an operand that starts
// where they say: quotients, remainders, and indices that count down.
// EXPLAIN: remark: raised {{.*}}, 0 updates
// CHECK-LABEL: func.func @maps(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
#id = affine_map<(s, d) -> (s, d)>
func.func @maps(%old: tensor<8x4xf32>, %halves: tensor<6xf32>, %ring: tensor<5xf32>, %back: tensor<8x4xf32>, %p: index)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %a = linalg.generic {indexing_maps = [#id, affine_map<(s, d) -> ((s + d) floordiv 2)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old, %halves : tensor<8x4xf32>, tensor<6xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%k: f32, %n: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %b = linalg.generic {indexing_maps = [#id, affine_map<(s, d) -> ((s + d) mod 5)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old, %ring : tensor<8x4xf32>, tensor<5xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%k: f32, %n: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(s, d) -> (s, 3 - d)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old, %back : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%k: f32, %n: f32, %o: f32):
    %i = linalg.index 0 : index
    %t = arith.cmpi eq, %i, %p : index
    %s = arith.select %t, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %a, %b, %c : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Each element is checked, not only those that are replaced.
// EXPLAIN: remark: raised {{.*}}, 0 updates
// CHECK-LABEL: func.func @checked(
// CHECK: cf.assert
// CHECK-NOT: cf.assert
#id = affine_map<(s, d) -> (s, d)>
func.func @checked(%old: tensor<8x4xf32>, %new: f32, %p: index) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%old : tensor<8x4xf32>) {
  ^bb0(%k: f32):
    %valid = arith.cmpf oge, %k, %zero : f32
    cf.assert %valid, "negative"
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Bits are lost of the elements that are kept.
// EXPLAIN: remark: raised {{.*}}, 0 updates
// CHECK-LABEL: func.func @narrowed(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
#id = affine_map<(s, d) -> (s, d)>
func.func @narrowed(%old: tensor<8x4xi32>, %p: index) -> tensor<8x4xi32> {
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%old : tensor<8x4xi32>) {
  ^bb0(%k: i32):
    %up = arith.shli %k, %eight : i32
    %down = arith.shrsi %up, %eight : i32
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %zero, %down : i32
    linalg.yield %s : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

// -----

// The position is read only where there is one, and by an index that is known
// to be one in a tensor that may be empty.
// EXPLAIN: remark: raised {{.*}}, 0 updates
// CHECK-LABEL: func.func @out_of_bounds(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
#id = affine_map<(s, d) -> (s, d)>
func.func @out_of_bounds(%old: tensor<?x4xf32>, %new: f32, %positions: tensor<?xindex>, %layer: index, %known: i1)
    -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %none = arith.constant -1 : index
  %a = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%old : tensor<?x4xf32>) {
  ^bb0(%k: f32):
    %p = scf.if %known -> index {
      %read = tensor.extract %positions[%layer] : tensor<?xindex>
      scf.yield %read : index
    } else {
      scf.yield %none : index
    }
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(s, d) -> (0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%positions : tensor<?xindex>) outs(%old : tensor<?x4xf32>) {
  ^bb0(%p: index, %k: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// What is checked further down says that the position is twice a number that is
// computed further down.
// EXPLAIN: remark: raised {{.*}}, 0 updates
// CHECK-LABEL: func.func @later(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
#id = affine_map<(s, d) -> (s, d)>
func.func private @count(tensor<8x4xf32>) -> index
func.func @later(%old: tensor<8x4xf32>, %new: f32, %p: index) -> tensor<8x4xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%old : tensor<8x4xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %n = call @count(%r) : (tensor<8x4xf32>) -> index
  %two = arith.constant 2 : index
  %twice = arith.muli %n, %two : index
  %same = arith.cmpi eq, %twice, %p : index
  cf.assert %same, "counted"
  return %r : tensor<8x4xf32>
}
