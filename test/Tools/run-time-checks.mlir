// What only a run can tell: with the checks on, a wrong extent, length or
// position stops the run and says which op refuses what; right ones pass.

// RUN: rope-run %s --entry=length --random=1 --dims=8 --pipeline-options=runtime-checks
// RUN: not --crash rope-run %s --entry=length --random=1 --dims=8 --shape=1=9x64 --pipeline-options=runtime-checks 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: rope.attention
// LENGTH: key_length must be at least 0 and at most the number of keys
func.func @length(%q: tensor<?x64xf32>, %n: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %length = tensor.dim %n, %c0 : tensor<?x64xf32>
  %r = rope.attention ins(%q, %q, %q : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) key_length(%length : index)
    outs(%q : tensor<?x64xf32>) scale 0.125 -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// RUN: rope-run %s --entry=table_extent --random=1 --dims=8 --pipeline-options=runtime-checks
// RUN: not --crash rope-run %s --entry=table_extent --random=1 --dims=8 --shape=1=7x2x32 --pipeline-options=runtime-checks 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: rope.rotate
// EXTENT: must have the extent of dim
func.func @table_extent(%x: tensor<?x64xf32>, %t: tensor<?x2x32xf32>) -> tensor<?x64xf32> {
  %r = rope.rotate <half along [0]> ins(%x, %t : tensor<?x64xf32>, tensor<?x2x32xf32>) outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// Rows of a table are gathered by positions, as models with a cache of cos and
// sin do; --random counts positions from 0 along the last dim.
// RUN: rope-run %s --entry=gathered --random=1 --dims=8 --pipeline-options=runtime-checks
// RUN: not --crash rope-run %s --entry=gathered --random=1 --dims=8 --shape=1=7x2x32 --pipeline-options=runtime-checks 2>&1 | FileCheck %s --check-prefix=GATHERED
// GATHERED: tensor.extract
// GATHERED: out-of-bounds
func.func @gathered(%x: tensor<?x64xf32>, %table: tensor<?x2x32xf32>, %positions: tensor<?xi64>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %positions, %c0 : tensor<?xi64>
  %empty = tensor.empty(%n) : tensor<?x2x32xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%positions : tensor<?xi64>) outs(%empty : tensor<?x2x32xf32>) {
  ^bb0(%position: i64, %out: f32):
    %row = arith.index_cast %position : i64 to index
    %plane = linalg.index 1 : index
    %pair = linalg.index 2 : index
    %element = tensor.extract %table[%row, %plane, %pair] : tensor<?x2x32xf32>
    linalg.yield %element : f32
  } -> tensor<?x2x32xf32>
  %r = rope.rotate <half along [0]> ins(%x, %rows : tensor<?x64xf32>, tensor<?x2x32xf32>) outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
