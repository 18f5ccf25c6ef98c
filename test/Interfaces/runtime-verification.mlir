// RUN: rope-opt %s --generate-runtime-verification="verbose-level=0" --cse --canonicalize --split-input-file | FileCheck %s

// Leading dims of a table and of its positions.
// CHECK-LABEL: @table
// CHECK-SAME: (%[[IDS:[a-z0-9]+]]: tensor<3x?x?xi64>, %[[INIT:[a-z0-9]+]]: tensor<?x8x2x4xf32>)
// CHECK-DAG: %[[D0:.*]] = tensor.dim %[[INIT]], %c0
// CHECK-DAG: %[[P1:.*]] = tensor.dim %[[IDS]], %c1
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[P1]], %[[D0]]
// CHECK: cf.assert %[[OK]], "{{.*}}dim 1 of the positions must have the extent of dim 0 of the table
// CHECK: %[[P2:.*]] = tensor.dim %[[IDS]], %c2
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[P2]], %c8
// CHECK: cf.assert %[[OK]], "{{.*}}dim 2 of the positions must have the extent of dim 1 of the table
func.func @table(%ids: tensor<3x?x?xi64>, %init: tensor<?x8x2x4xf32>) -> tensor<?x8x2x4xf32> {
  %t = rope.table #rope.default<1.0e4> ins(%ids : tensor<3x?x?xi64>) axes [0, 1, 2, 2] outs(%init : tensor<?x8x2x4xf32>) -> tensor<?x8x2x4xf32>
  return %t : tensor<?x8x2x4xf32>
}

// -----

// CHECK-LABEL: @planes
// CHECK-COUNT-2: cf.assert %{{.*}}, "{{.*}}dim 0 of {{cos|sin}} must have the extent of dim 0 of the table
// CHECK-COUNT-2: cf.assert %{{.*}}, "{{.*}}dim 0 of {{lhs|rhs}} must have the extent of dim 0 of the table
func.func @planes(%c: tensor<?x4xf32>, %s: tensor<?x4xf32>, %a: tensor<?x2x4xf32>, %b: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %t = rope.assemble ins(%c, %s : tensor<?x4xf32>, tensor<?x4xf32>) outs(%a : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %u = rope.compose ins(%t, %b : tensor<?x2x4xf32>, tensor<?x2x4xf32>) outs(%a : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  return %u : tensor<?x2x4xf32>
}

// -----

// On memrefs; dims that do not have to agree, and those known to, are left.
// CHECK-LABEL: @rotation
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?x8x?x64xf32>, %[[T:[a-z0-9]+]]: memref<?x2x32xf32>)
// CHECK: %[[TD:.*]] = memref.dim %[[T]], %c0
// CHECK: %[[XD:.*]] = memref.dim %[[X]], %c2
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[TD]], %[[XD]]
// CHECK: cf.assert %[[OK]], "{{.*}}dim 0 of the table of the input must have the extent of dim 2 of the input
// CHECK-NOT: cf.assert
// CHECK: rope.rerotate
func.func @rotation(%x: memref<?x8x?x64xf32>, %t: memref<?x2x32xf32>) {
  rope.rerotate <half along [2]> ins(%x, %t : memref<?x8x?x64xf32>, memref<?x2x32xf32>) outs(%x : memref<?x8x?x64xf32>)
  return
}

// -----

// Nothing is checked that the verifier has seen.
// CHECK-LABEL: @static
// CHECK-NOT: cf.assert
// CHECK: rope.attention
func.func @static(%q: tensor<8x4x64xf32>, %k: tensor<2x4x64xf32>, %t: tensor<4x2x32xf32>) -> tensor<8x4x64xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<8x4x64xf32>, tensor<2x4x64xf32>, tensor<2x4x64xf32>)
    rotate_query(%t : tensor<4x2x32xf32>) <half along [1]> outs(%q : tensor<8x4x64xf32>) scale 0.125 -> tensor<8x4x64xf32>
  return %r : tensor<8x4x64xf32>
}

// -----

// CHECK-LABEL: @attention
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<?x?x?x64xf32>, %[[K:[a-z0-9]+]]: tensor<?x?x?x64xf32>,
// CHECK-SAME: %[[LEN:[a-z0-9]+]]: tensor<?xi32>,
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 0 of key must have the extent of dim 0 of query
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 1 of value must have the extent of dim 1 of key
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 2 of output must have the extent of dim 2 of query
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 2 of value must have the extent of dim 2 of key
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 1 of output must have the extent of dim 1 of query
// CHECK: %[[D:.*]] = arith.maxui %[[H:.*]], %c1
// CHECK: %[[G:.*]] = arith.divui %[[HG:.*]], %[[D]]
// CHECK: %[[ALL:.*]] = arith.muli %[[H]], %[[G]]
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[HG]], %[[ALL]]
// CHECK: cf.assert %[[OK]], "{{.*}}the heads of query must be a multiple of the key-value heads
// CHECK: cf.assert %{{.*}}, "{{.*}}dim 0 of the table of key must have the extent of dim 2 of key
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[L:.*]] = tensor.extract %[[LEN]][%[[I]]]
// CHECK: %[[L1:.*]] = arith.index_cast %[[L]] : i32 to index
// CHECK: %[[OK:.*]] = arith.cmpi ule, %[[L1]], %{{.*}}
// CHECK: cf.assert %[[OK]], "{{.*}}key_length must be at least 0 and at most the number of keys
func.func @attention(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x64xf32>, %t: tensor<?x2x32xf32>, %len: tensor<?xi32>, %o: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %r = rope.attention ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
    key_length(%len : tensor<?xi32>) rotate_key(%t : tensor<?x2x32xf32>) <half along [2]>
    outs(%o : tensor<?x?x?x64xf32>) scale 0.125 -> tensor<?x?x?x64xf32>
  return %r : tensor<?x?x?x64xf32>
}

// -----

// A broadcast dim has the extent 1.
// CHECK-LABEL: @broadcast
// CHECK: %[[D:.*]] = tensor.dim %{{.*}}, %c0 : tensor<?x4xi1>
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[D]], %c1
// CHECK: cf.assert %[[OK]], "{{.*}}dim 0 of mask is broadcast and must have extent 1
func.func @broadcast(%q: tensor<4x64xf32>, %mask: tensor<?x4xi1>) -> tensor<4x64xf32> {
  %r = rope.attention ins(%q, %q, %q : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) mask(%mask : tensor<?x4xi1>)
    outs(%q : tensor<4x64xf32>) scale 0.125 layout <mask = "1n"> -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// Heads in a group and by themselves; a length for all.
// CHECK-LABEL: @online
// CHECK-SAME: %[[LEN:[a-z0-9]+]]: index
// CHECK: %[[ALL:.*]] = arith.muli
// CHECK: cf.assert %{{.*}}, "{{.*}}the heads of query must be a multiple of the key-value heads
// CHECK: %[[OK:.*]] = arith.cmpi ule, %[[LEN]], %c16
// CHECK: cf.assert %[[OK]], "{{.*}}key_length must be at least 0 and at most the number of keys
func.func @online(%q: tensor<?x4x64xf32>, %k: tensor<?x16x64xf32>, %len: index, %a: tensor<?x?x4x64xf32>, %m: tensor<?x?x4xf32>) -> tensor<?x?x4x64xf32> {
  %r:3 = rope.online_attention ins(%q, %k, %k : tensor<?x4x64xf32>, tensor<?x16x64xf32>, tensor<?x16x64xf32>) key_length(%len : index)
    outs(%a, %m, %m : tensor<?x?x4x64xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) scale 0.125 layout <output = "hgme", lse = "hgm">
    -> tensor<?x?x4x64xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  return %r#0 : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: @linear
// CHECK: cf.assert %{{.*}}, "{{.*}}causal: there must be as many keys as query rows
func.func @linear(%q: tensor<8x?x64xf32>, %k: tensor<8x?x64xf32>) -> tensor<8x?x64xf32> {
  %r = rope.linear_attention ins(%q, %k, %k : tensor<8x?x64xf32>, tensor<8x?x64xf32>, tensor<8x?x64xf32>)
    outs(%q : tensor<8x?x64xf32>) feature_map relu causal -> tensor<8x?x64xf32>
  return %r : tensor<8x?x64xf32>
}

// -----

// Heads of which only the query heads for each are a dim of their own.
// CHECK-LABEL: @query_heads
// CHECK: cf.assert %{{.*}}, "{{.*}}the heads of query must be a multiple of the query heads for each key-value head
func.func @query_heads(%q: tensor<?x4x64xf32>, %k: tensor<16x64xf32>, %m: tensor<?x16xi1>, %o: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<?x4x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) mask(%m : tensor<?x16xi1>)
    outs(%o : tensor<?x4x64xf32>) scale 0.125 layout <mask = "gn"> -> tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>
}

// -----

// An output without heads.
// CHECK-LABEL: @no_heads
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<?x7x16xf32>
// CHECK: %[[H:.*]] = tensor.dim %[[K]], %c0
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[H]], %c1
// CHECK: cf.assert %[[OK]], "{{.*}}output lacks h, which must have extent 1
func.func @no_heads(%q: tensor<5x16xf32>, %k: tensor<?x7x16xf32>, %o: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<5x16xf32>, tensor<?x7x16xf32>, tensor<?x7x16xf32>) outs(%o : tensor<5x16xf32>) scale 0.25 -> tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}
