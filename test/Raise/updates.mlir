// RUN: rope-opt --rope-raise=explain=true --canonicalize --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=EXPLAIN --input-file %t.remarks

// A choice by whether an index is a certain one is made at that index alone.

#id4 = affine_map<(b, h, s, d) -> (b, h, s, d)>
#id2 = affine_map<(s, d) -> (s, d)>

// A cache of keys as models write it: where(arange(n) == position, new, old).
// EXPLAIN: remark: update of one index of dim 2
// EXPLAIN: remark: raised 0 rotations, {{.*}}, 1 update
// CHECK-LABEL: func.func @cache(
// CHECK-SAME: %[[OLD:.*]]: tensor<1x2x16x4xf32>, %[[NEW:.*]]: tensor<1x2x1x4xf32>, %[[POSITION:.*]]: tensor<1xi64>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : index
// CHECK: %[[AT:.*]] = tensor.extract %[[POSITION]][%[[C0]]]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[AT]]
// CHECK: %[[BELOW:.*]] = arith.minsi %[[INDEX]], %[[C15]]
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[BELOW]], %[[C0]]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[OLD]][0, 0, %[[CLAMPED]], 0] [1, 2, 1, 4]
// CHECK: %[[CHOSEN:.*]] = linalg.generic {{.*}}, %[[NEW]], %[[ROW]] :
// CHECK: arith.select
// CHECK: %[[RESULT:.*]] = tensor.insert_slice %[[CHOSEN]] into %[[OLD]][0, 0, %[[CLAMPED]], 0] [1, 2, 1, 4]
// CHECK: return %[[RESULT]]
func.func @cache(%old: tensor<1x2x16x4xf32>, %new: tensor<1x2x1x4xf32>, %position: tensor<1xi64>) -> tensor<1x2x16x4xf32> {
  %e = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(s) -> (0)>, affine_map<(s) -> (s)>], iterator_types = ["parallel"]}
      ins(%position : tensor<1xi64>) outs(%e : tensor<16xi1>) {
  ^bb0(%p: i64, %o: i1):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpi eq, %j, %p : i64
    linalg.yield %c : i1
  } -> tensor<16xi1>
  %m = tensor.expand_shape %mask [[0, 1, 2, 3]] output_shape [1, 1, 16, 1] : tensor<16xi1> into tensor<1x1x16x1xi1>
  %f = tensor.empty() : tensor<1x2x16x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, 0, s, 0)>, affine_map<(b, h, s, d) -> (b, h, 0, d)>, #id4, #id4],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%m, %new, %old : tensor<1x1x16x1xi1>, tensor<1x2x1x4xf32>, tensor<1x2x16x4xf32>) outs(%f : tensor<1x2x16x4xf32>) {
  ^bb0(%c: i1, %n: f32, %k: f32, %o: f32):
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<1x2x16x4xf32>
  return %r : tensor<1x2x16x4xf32>
}

// -----

// A position for each sequence of a batch; kept is the other branch; the old
// tensor is the init. Of no elements, no position is computed.
// EXPLAIN: remark: update of one index of dim 1
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: %[[OLD:.*]]: tensor<3x?x4xbf16>, %[[NEW:.*]]: tensor<3x4xbf16>, %[[POSITIONS:.*]]: tensor<3xi32>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %{{.*}}, %[[C0]]
// CHECK: scf.if %[[SOME]]
// CHECK: scf.for %[[B:.*]] = %[[C0]] to %[[C3]] step %[[C1]] iter_args(%[[CURRENT:.*]] = %[[OLD]])
// CHECK: tensor.extract %[[POSITIONS]][%[[B]]]
// CHECK: linalg.generic
// CHECK: tensor.insert_slice %{{.*}} into %[[CURRENT]][%[[B]], %{{.*}}, 0] [1, 1, 4]
// CHECK: else
// CHECK-NEXT: scf.yield %[[OLD]]
#id3 = affine_map<(b, s, d) -> (b, s, d)>
func.func @batch(%old: tensor<3x?x4xbf16>, %new: tensor<3x4xbf16>, %positions: tensor<3xi32>) -> tensor<3x?x4xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b)>, affine_map<(b, s, d) -> (b, d)>, #id3],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%positions, %new : tensor<3xi32>, tensor<3x4xbf16>) outs(%old : tensor<3x?x4xbf16>) {
  ^bb0(%p: i32, %n: bf16, %k: bf16):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %c = arith.cmpi ne, %j, %p : i32
    %s = arith.select %c, %k, %n : bf16
    linalg.yield %s : bf16
  } -> tensor<3x?x4xbf16>
  return %r : tensor<3x?x4xbf16>
}

// -----

// The last dim of a transposed op, at a distance, and only if a flag is set.
// EXPLAIN: remark: update of one index of dim 1
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[OLD:.*]]: tensor<4x8xf32>
// CHECK: %[[PART:.*]] = linalg.generic
// CHECK: tensor.insert_slice %[[PART]] into %[[OLD]][0, %{{.*}}] [4, 1] [1, 1]
#swap = affine_map<(s, d) -> (d, s)>
func.func @transposed(%old: tensor<4x8xf32>, %new: f32, %position: index, %flag: i1) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#swap, #swap], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c3 = arith.constant 3 : index
    %j = arith.addi %i, %c3 : index
    %c = arith.cmpi eq, %position, %j : index
    %both = arith.andi %flag, %c : i1
    %s = arith.select %both, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Sequences may be in front of the batch.
// EXPLAIN: remark: update of one index of dim 0
// CHECK-LABEL: func.func @sequence_first(
// CHECK: scf.for %[[B:.*]] = %c0{{.*}} to %c3
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, %[[B]], 0] [1, 1, 4]
func.func @sequence_first(%old: tensor<64x3x4xf32>, %new: tensor<3x4xf32>, %positions: tensor<3xi64>) -> tensor<64x3x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(s, b, d) -> (b)>, affine_map<(s, b, d) -> (b, d)>, affine_map<(s, b, d) -> (s, b, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%positions, %new : tensor<3xi64>, tensor<3x4xf32>) outs(%old : tensor<64x3x4xf32>) {
  ^bb0(%p: i64, %n: f32, %k: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpi eq, %j, %p : i64
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<64x3x4xf32>
  return %r : tensor<64x3x4xf32>
}

// -----

// One after the other, the second with its condition the other way round and a
// choice in a choice.
// EXPLAIN: raised {{.*}}, 2 updates
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[OLD:.*]]: tensor<8x4xf32>
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %[[OLD]]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[FIRST]]
// CHECK: linalg.generic {{.*}} ins(%[[ROW]]
// CHECK: %[[SECOND:.*]] = tensor.insert_slice %{{.*}} into %[[FIRST]]
// CHECK: return %[[SECOND]]
#id = affine_map<(s, d) -> (s, d)>
func.func @chain(%old: tensor<8x4xf32>, %a: index, %b: index, %flag: i1, %x: f32) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %first = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %x, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %second = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%first : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%k: f32, %o: f32):
    %true = arith.constant true
    %i = linalg.index 0 : index
    %c = arith.cmpi ne, %i, %b : index
    %other = arith.ori %c, %flag : i1
    %not = arith.xori %other, %true : i1
    %t = arith.select %c, %k, %x : f32
    %s = arith.select %not, %t, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %second : tensor<8x4xf32>
}

// -----

// None of these is an update: several indices are chosen; what is kept is moved;
// the index may wrap (but not that of 64 bits); a part of the result is not of a
// part of the operand; there are no elements, or few to choose from for each row.
// EXPLAIN: remark: raised {{.*}}, 1 update
// CHECK-LABEL: func.func @refused(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
// CHECK-LABEL: func.func @long_index(
// CHECK: tensor.insert_slice
#id = affine_map<(s, d) -> (s, d)>
#later = affine_map<(s, d) -> (d)>
func.func @refused(%old: tensor<8x8xf32>, %new: f32, %a: index, %b: index, %each: tensor<8xindex>, %byte: i8,
                   %three: tensor<3xf32>, %none: tensor<0x8xf32>, %nothing: tensor<8x0xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1024x8xf32>,
        tensor<8x8xf32>, tensor<0x8xf32>, tensor<8x0xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %two = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %a : index
    %d = arith.cmpi eq, %i, %b : index
    %or = arith.ori %c, %d : i1
    %s = arith.select %or, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %range = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi sle, %i, %a : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %others = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %k, %new : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %moved = linalg.generic {indexing_maps = [affine_map<(s, d) -> (d, s)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %diagonal = linalg.generic {indexing_maps = [#id, #later, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old, %each : tensor<8x8xf32>, tensor<8xindex>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%k: f32, %p: index, %o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi eq, %i, %p : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %long = tensor.empty() : tensor<1024x8xf32>
  %wraps = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%long : tensor<1024x8xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i8
    %c = arith.cmpi eq, %j, %byte : i8
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<1024x8xf32>
  %round = linalg.generic {indexing_maps = [affine_map<(s, d) -> ((s + d) mod 3)>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%three, %old : tensor<3xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%n: f32, %k: f32, %o: f32):
    %i = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %n, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %no_rows = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%none : tensor<0x8xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<0x8xf32>
  %no_columns = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%nothing : tensor<8x0xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %a : index
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x0xf32>
  return %two, %range, %others, %moved, %diagonal, %wraps, %round, %no_rows, %no_columns
      : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1024x8xf32>,
        tensor<8x8xf32>, tensor<0x8xf32>, tensor<8x0xf32>
}

func.func @long_index(%long: tensor<1024x8xf32>, %new: f32, %word: i64) -> tensor<1024x8xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%long : tensor<1024x8xf32>) {
  ^bb0(%k: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.cmpi eq, %j, %word : i64
    %s = arith.select %c, %new, %k : f32
    linalg.yield %s : f32
  } -> tensor<1024x8xf32>
  return %r : tensor<1024x8xf32>
}
