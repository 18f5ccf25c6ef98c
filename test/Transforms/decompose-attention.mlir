// RUN: rope-opt %s --rope-decompose=ops=rope.attention,rope.online_attention,rope.linear_attention --split-input-file --canonicalize --cse | FileCheck %s

// Nothing is hidden: products, scale, maximum, weights, sum, products, mean.
// The group of heads is split by views, and the products are contractions of
// the operands as they are.
// CHECK-DAG: #[[$QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[$KEY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[$SCORES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func @plain(
// CHECK-SAME: %[[Q:.*]]: tensor<2x6x?x8xf32>, %[[K:.*]]: tensor<2x2x?x8xf32>, %[[V:.*]]: tensor<2x2x?x8xf32>, %[[INIT:.*]]: tensor<2x6x?x8xf32>)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: %[[QS:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK-SAME: into tensor<2x2x3x?x8xf32>
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[$QUERY]], #[[$KEY]], #[[$SCORES]]]
// CHECK-SAME: ins(%[[QS]], %[[K]] : tensor<2x2x3x?x8xf32>, tensor<2x2x?x8xf32>)
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: %[[SCALED:.*]] = linalg.generic
// CHECK-SAME: ins(%[[S]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[X]], %[[SCALE]]
// CHECK-NEXT: linalg.yield
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK-SAME: ins(%[[SCALED]] :
// CHECK: arith.maximumf
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-SAME: ins(%[[SCALED]], %[[MAX]] :
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK-SAME: ins(%[[P]] :
// CHECK: %[[ACC:.*]] = linalg.generic
// CHECK-SAME: ins(%[[P]], %[[V]] :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK: %[[INITS:.*]] = tensor.expand_shape %[[INIT]]
// CHECK: %[[O:.*]] = linalg.generic
// CHECK-SAME: ins(%[[ACC]], %[[SUM]] :
// CHECK-SAME: outs(%[[INITS]] :
// CHECK: arith.divf
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[O]]
// CHECK-NOT: linalg.index
// CHECK-NOT: scf.
// CHECK: return %[[R]]
func.func @plain(%q: tensor<2x6x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x8xf32>, %init: tensor<2x6x?x8xf32>) -> tensor<2x6x?x8xf32> {
  %o = rope.attention ins(%q, %k, %v : tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>) outs(%init : tensor<2x6x?x8xf32>) scale 0.25 -> tensor<2x6x?x8xf32>
  return %o : tensor<2x6x?x8xf32>
}

// -----

// Causal: hidden scores are selected away, positions are indices. Values of
// weight 0 are selected away too: they may be anything.
// CHECK-LABEL: func @causal
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-DAG: %[[N:.*]] = linalg.index 1 : index
// CHECK-DAG: %[[M:.*]] = linalg.index 0 : index
// CHECK-DAG: %[[N64:.*]] = arith.index_cast %[[N]]
// CHECK-DAG: %[[M64:.*]] = arith.index_cast %[[M]]
// CHECK: %[[SEES:.*]] = arith.cmpi sle, %[[N64]], %[[M64]] : i64
// CHECK-NEXT: arith.select %[[SEES]], %{{.*}}, %[[NONE]]
// CHECK: math.exp
// CHECK: %[[HIDDEN:.*]] = arith.cmpf oeq, %[[P:.*]], %[[ZERO]]
// CHECK-NEXT: %[[X:.*]] = arith.select %[[HIDDEN]], %[[ZERO]], %{{.*}}
// CHECK-NEXT: arith.mulf %[[P]], %[[X]]
// CHECK-NEXT: arith.addf
func.func @causal(%q: tensor<5x8xf32>, %init: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %o = rope.attention ins(%q, %q, %q : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) outs(%init : tensor<5x8xf32>) scale 1.0 causal -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

// Softcap comes before the mask; a float mask of −∞ selects, a finite one adds
// and stays finite. A window is two comparisons that cannot overflow.
// CHECK-LABEL: func @options
// CHECK-SAME: %[[MASK:[a-z0-9]*]]: tensor<1x7xbf16>
// CHECK-DAG: %[[MASKS:.*]] = tensor.collapse_shape %[[MASK]] {{\[\[}}0, 1]] : tensor<1x7xbf16> into tensor<7xbf16>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-DAG: %[[L:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[R:.*]] = arith.constant 1 : i64
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[MASKS]], %{{.*}} : tensor<7xbf16>, tensor<5x7xf32>)
// CHECK: math.tanh
// CHECK: arith.cmpi sle
// CHECK: arith.cmpi ule, %{{.*}}, %[[L]]
// CHECK: arith.cmpi ule, %{{.*}}, %[[R]]
// CHECK: arith.maximumf %{{.*}}, %[[LOWEST]]
// CHECK: arith.select
// CHECK: arith.select
// CHECK: linalg.yield
func.func @options(%mask: tensor<1x7xbf16>, %q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %init: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %o = rope.attention ins(%q, %k, %k : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x8xf32>) mask(%mask : tensor<1x7xbf16>) outs(%init : tensor<5x8xf32>) scale 1.0 window [3, 1] softcap 2.0 -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

// The sink is what the maximum and the sum start from; with lse wanted the sum
// is in f64.
// CHECK-LABEL: func @sink_and_lse
// CHECK: linalg.fill {{.*}} -> tensor<1x6x5x7xf32>
// CHECK-NOT: linalg.fill {{.*}} -> tensor<1x6x5xf32>
// CHECK: arith.maximumf
// CHECK: "reduction"{{.*}} outs(%{{.*}} : tensor<1x6x5xf64>)
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-NEXT: arith.addf %{{.*}} : f64
// CHECK: math.log %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @sink_and_lse(%q: tensor<6x5x8xf32>, %k: tensor<1x7x8xf32>, %sink: tensor<6xf32>, %init: tensor<6x5x8xf32>, %l: tensor<6x5xf32>) -> (tensor<6x5x8xf32>, tensor<6x5xf32>) {
  %o:2 = rope.attention ins(%q, %k, %k : tensor<6x5x8xf32>, tensor<1x7x8xf32>, tensor<1x7x8xf32>) sink(%sink : tensor<6xf32>) outs(%init, %l : tensor<6x5x8xf32>, tensor<6x5xf32>) scale 1.0
    -> tensor<6x5x8xf32>, tensor<6x5xf32>
  return %o#0, %o#1 : tensor<6x5x8xf32>, tensor<6x5xf32>
}

// -----

// Keys are turned once for each key-value head, and RoPER's output at the end.
// What is narrow is widened before it is turned and rounded at the end alone.
// CHECK-LABEL: func @rotations(
// CHECK: arith.extf
// CHECK: rope.rotate <half along [1]> ins(%{{.*}} : tensor<6x5x8xf32>
// CHECK: arith.extf
// CHECK: rope.rotate <half along [1]> ins(%{{.*}} : tensor<2x7x8xf32>
// CHECK-NOT: arith.truncf
// CHECK: rope.rotate <interleaved along [1]> ins(%{{.*}} : tensor<2x7x8xf32>
// CHECK-NOT: arith.truncf
// CHECK: arith.divf
// CHECK-NOT: arith.truncf
// CHECK: rope.rerotate <interleaved along
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @rotations(%q: tensor<6x5x8xbf16>, %k: tensor<2x7x8xbf16>, %v: tensor<2x7x8xbf16>, %t: tensor<5x2x4xf32>, %u: tensor<7x2x4xf32>, %init: tensor<6x5x8xbf16>) -> tensor<6x5x8xbf16> {
  %o = rope.attention ins(%q, %k, %v : tensor<6x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>)
         rotate_query(%t : tensor<5x2x4xf32>) <half along [1]> rotate_key(%u : tensor<7x2x4xf32>) <half along [1]>
         rotate_value(%u : tensor<7x2x4xf32>) <interleaved along [1]> rerotate_output(%t : tensor<5x2x4xf32>) <interleaved along [1]>
         outs(%init : tensor<6x5x8xbf16>) scale 1.0 -> tensor<6x5x8xbf16>
  return %o : tensor<6x5x8xbf16>
}

// -----

// Both extents of the group are known at run time alone: a reshape.
// CHECK-LABEL: func @dynamic_heads
// CHECK: tensor.reshape %{{.*}} : (tensor<?x?x8xf32>, tensor<4xindex>) -> tensor<?x?x?x8xf32>
// CHECK: tensor.collapse_shape
func.func @dynamic_heads(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %init: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %o = rope.attention ins(%q, %k, %k : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%init : tensor<?x?x8xf32>) scale 1.0 -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----

// The maximum starts from the carried one, and the state is updated in place.
// CHECK-LABEL: func @online(
// CHECK-SAME: %[[ACC:[a-z0-9]*]]: tensor<5x8xf32>, %[[MAX:[a-z0-9]*]]: tensor<5xf32>, %[[SUM:[a-z0-9]*]]: tensor<5xf32>)
// CHECK: %[[NEW:[0-9a-z]*]] = linalg.generic {{.*}} outs(%[[MAX]] :
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%[[MAX]], %[[NEW]] : {{.*}} outs(%[[SUM]] :
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%[[MAX]], %[[NEW]] : {{.*}} outs(%[[ACC]] :
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK-NOT: arith.divf
// CHECK: return %{{.*}}, %[[NEW]], %{{.*}}
func.func @online(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %acc: tensor<5x8xf32>, %max: tensor<5xf32>, %sum: tensor<5xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>) {
  %o:3 = rope.online_attention ins(%q, %k, %k : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x8xf32>) outs(%acc, %max, %sum : tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>) scale 1.0
    -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  return %o#0, %o#1, %o#2 : tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
}

// -----

// Without causal no product of rows and keys is made: the state takes all keys,
// and rows read it. The normaliser is of features that are not turned.
// CHECK-LABEL: func @linear(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<512x8xf32>, %[[T:.*]]: tensor<512x2x4xf32>
// CHECK-NOT: tensor<512x512xf32>
// CHECK: %[[F:.*]] = linalg.generic
// CHECK-SAME: ins(%[[Q]] :
// CHECK: arith.cmpf ogt
// CHECK: math.exp
// CHECK: %[[R:.*]] = rope.rotate <half along [0]> ins(%[[F]], %[[T]] :
// CHECK: %[[KV:.*]] = linalg.generic
// CHECK-SAME: ins(%[[R]], %[[Q]] :
// CHECK-SAME: outs(%{{.*}} : tensor<8x8xf32>)
// CHECK: %[[NUM:.*]] = linalg.generic
// CHECK-SAME: ins(%[[R]], %[[KV]] :
// CHECK: %[[Z:.*]] = linalg.generic
// CHECK-SAME: ins(%[[F]] :
// CHECK: %[[DEN:.*]] = linalg.generic
// CHECK-SAME: ins(%[[F]], %[[Z]] :
// CHECK: %[[O:.*]] = linalg.generic
// CHECK-SAME: ins(%[[NUM]], %[[DEN]] :
// CHECK: arith.divf
// CHECK: return %[[O]]
func.func @linear(%q: tensor<512x8xf32>, %t: tensor<512x2x4xf32>, %init: tensor<512x8xf32>) -> tensor<512x8xf32> {
  %o = rope.linear_attention ins(%q, %q, %q : tensor<512x8xf32>, tensor<512x8xf32>, tensor<512x8xf32>)
         rotate_query(%t : tensor<512x2x4xf32>) <half along [0]> rotate_key(%t : tensor<512x2x4xf32>) <half along [0]>
         outs(%init : tensor<512x8xf32>) feature_map elu_plus_one normalizer_eps 1.0e-6 -> tensor<512x8xf32>
  return %o : tensor<512x8xf32>
}

// -----

// Causal: rows read the carried state, and the keys up to their own.
// CHECK-LABEL: func @linear_causal(
// CHECK-SAME: %[[STATE:[a-z0-9]*]]: tensor<8x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[STATE]] : tensor<6x8xf32>, tensor<8x8xf32>)
// CHECK: arith.cmpi sle
// CHECK-NEXT: arith.select
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[STATE]] :
// CHECK-NOT: arith.divf
// CHECK: return %{{.*}}, %[[NEW]]
func.func @linear_causal(%q: tensor<6x8xf32>, %init: tensor<6x8xf32>, %s: tensor<8x8xf32>) -> (tensor<6x8xf32>, tensor<8x8xf32>) {
  %o:2 = rope.linear_attention ins(%q, %q, %q : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) outs(%init, %s : tensor<6x8xf32>, tensor<8x8xf32>) feature_map relu causal
    -> tensor<6x8xf32>, tensor<8x8xf32>
  return %o#0, %o#1 : tensor<6x8xf32>, tensor<8x8xf32>
}

// -----

// The output holds h and g together, with a known extent; the query holds g
// alone, without one: h is their quotient, and no constant.
// CHECK-LABEL: func @heads_over_a_dynamic_group
// CHECK-SAME: %[[Q:.*]]: tensor<?x4x8xf32>,
// CHECK-DAG: %[[SIX:.*]] = arith.constant 6 : index
// CHECK: %[[G:.*]] = tensor.dim %[[Q]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.maxui %[[G]]
// CHECK: %[[H:.*]] = arith.divui %[[SIX]], %[[COUNT]]
// CHECK: tensor.empty(%[[H]], %[[G]]) : tensor<?x?x4x5xf32>
func.func @heads_over_a_dynamic_group(%q: tensor<?x4x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>, %init: tensor<6x4x8xf32>) -> tensor<6x4x8xf32> {
  %o = rope.attention ins(%q, %k, %v : tensor<?x4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) outs(%init : tensor<6x4x8xf32>) scale 0.25 layout <query = "gmd", key = "nd", value = "ne", output = "(hg)me"> -> tensor<6x4x8xf32>
  return %o : tensor<6x4x8xf32>
}
