// RUN: rope-opt %s --rope-tile="sizes=b:1,h:1,m:2,n:2 dims=1,2 key-splits=2" | FileCheck %s
// RUN: rope-opt %s --rope-tile="sizes=b:1,h:1,m:2 dims=1,2 parallel=true fuse=true" | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline | FileCheck %s --check-prefix=LLVM

// Upstream takes the offset 0 of a dim of extent 0 to be out of bounds, so ops
// with an empty operand have no tiles.

// CHECK-NOT: scf
// CHECK-NOT: _slice
// LLVM-NOT: rope.

func.func @attention_tensor_rotated_b(%q: tensor<0x6x4x4xf32>, %k: tensor<0x2x4x4xf32>, %v: tensor<0x2x4x6xf32>, %mask: tensor<0x1x4x4xi1>, %len: tensor<0xi32>, %tq: tensor<4x2x1xf32>, %tk: tensor<4x2x1xf32>, %o: tensor<0x6x4x6xf32>, %l: tensor<0x6x4xf32>) -> (tensor<0x6x4x6xf32>, tensor<0x6x4xf32>) {
  %r:2 = rope.attention ins(%q, %k, %v : tensor<0x6x4x4xf32>, tensor<0x2x4x4xf32>, tensor<0x2x4x6xf32>) mask(%mask : tensor<0x1x4x4xi1>) key_length(%len : tensor<0xi32>) rotate_query(%tq : tensor<4x2x1xf32>) <half along [2]> rotate_key(%tk : tensor<4x2x1xf32>) <half along [2]> outs(%o, %l : tensor<0x6x4x6xf32>, tensor<0x6x4xf32>) scale 0.5 causal -> tensor<0x6x4x6xf32>, tensor<0x6x4xf32>
  return %r#0, %r#1 : tensor<0x6x4x6xf32>, tensor<0x6x4xf32>
}

func.func @attention_tensor_rotated_n(%q: tensor<2x6x4x4xf32>, %k: tensor<2x2x0x4xf32>, %v: tensor<2x2x0x6xf32>, %mask: tensor<2x1x4x0xi1>, %len: tensor<2xi32>, %tq: tensor<4x2x1xf32>, %tk: tensor<0x2x1xf32>, %o: tensor<2x6x4x6xf32>, %l: tensor<2x6x4xf32>) -> (tensor<2x6x4x6xf32>, tensor<2x6x4xf32>) {
  %r:2 = rope.attention ins(%q, %k, %v : tensor<2x6x4x4xf32>, tensor<2x2x0x4xf32>, tensor<2x2x0x6xf32>) mask(%mask : tensor<2x1x4x0xi1>) key_length(%len : tensor<2xi32>) rotate_query(%tq : tensor<4x2x1xf32>) <half along [2]> rotate_key(%tk : tensor<0x2x1xf32>) <half along [2]> outs(%o, %l : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>) scale 0.5 causal -> tensor<2x6x4x6xf32>, tensor<2x6x4xf32>
  return %r#0, %r#1 : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>
}

func.func @attention_tensor_d(%q: tensor<2x6x4x0xf32>, %k: tensor<2x2x4x0xf32>, %v: tensor<2x2x4x6xf32>, %mask: tensor<2x1x4x4xi1>, %len: tensor<2xi32>, %o: tensor<2x6x4x6xf32>, %l: tensor<2x6x4xf32>) -> (tensor<2x6x4x6xf32>, tensor<2x6x4xf32>) {
  %r:2 = rope.attention ins(%q, %k, %v : tensor<2x6x4x0xf32>, tensor<2x2x4x0xf32>, tensor<2x2x4x6xf32>) mask(%mask : tensor<2x1x4x4xi1>) key_length(%len : tensor<2xi32>) outs(%o, %l : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>) scale 0.5 causal -> tensor<2x6x4x6xf32>, tensor<2x6x4xf32>
  return %r#0, %r#1 : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>
}

func.func @attention_memref_rotated_m(%q: memref<2x6x0x4xf32>, %k: memref<2x2x4x4xf32>, %v: memref<2x2x4x6xf32>, %mask: memref<2x1x0x4xi1>, %len: memref<2xi32>, %tq: memref<0x2x1xf32>, %tk: memref<4x2x1xf32>, %o: memref<2x6x0x6xf32>, %l: memref<2x6x0xf32>) {
  rope.attention ins(%q, %k, %v : memref<2x6x0x4xf32>, memref<2x2x4x4xf32>, memref<2x2x4x6xf32>) mask(%mask : memref<2x1x0x4xi1>) key_length(%len : memref<2xi32>) rotate_query(%tq : memref<0x2x1xf32>) <half along [2]> rotate_key(%tk : memref<4x2x1xf32>) <half along [2]> outs(%o, %l : memref<2x6x0x6xf32>, memref<2x6x0xf32>) scale 0.5 causal
  return
}

func.func @online_attention_tensor_rotated_h(%q: tensor<2x0x4x4xf32>, %k: tensor<2x0x4x4xf32>, %v: tensor<2x0x4x6xf32>, %mask: tensor<2x1x4x4xi1>, %len: tensor<2xi32>, %tq: tensor<4x2x1xf32>, %tk: tensor<4x2x1xf32>, %o: tensor<2x0x4x6xf32>, %l: tensor<2x0x4xf32>, %s: tensor<2x0x4xf32>) -> (tensor<2x0x4x6xf32>, tensor<2x0x4xf32>, tensor<2x0x4xf32>) {
  %r:3 = rope.online_attention ins(%q, %k, %v : tensor<2x0x4x4xf32>, tensor<2x0x4x4xf32>, tensor<2x0x4x6xf32>) mask(%mask : tensor<2x1x4x4xi1>) key_length(%len : tensor<2xi32>) rotate_query(%tq : tensor<4x2x1xf32>) <half along [2]> rotate_key(%tk : tensor<4x2x1xf32>) <half along [2]> outs(%o, %l, %s : tensor<2x0x4x6xf32>, tensor<2x0x4xf32>, tensor<2x0x4xf32>) scale 0.5 causal -> tensor<2x0x4x6xf32>, tensor<2x0x4xf32>, tensor<2x0x4xf32>
  return %r#0, %r#1, %r#2 : tensor<2x0x4x6xf32>, tensor<2x0x4xf32>, tensor<2x0x4xf32>
}

func.func @online_attention_tensor_n(%q: tensor<2x6x4x4xf32>, %k: tensor<2x2x0x4xf32>, %v: tensor<2x2x0x6xf32>, %mask: tensor<2x1x4x0xi1>, %len: tensor<2xi32>, %o: tensor<2x6x4x6xf32>, %l: tensor<2x6x4xf32>, %s: tensor<2x6x4xf32>) -> (tensor<2x6x4x6xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>) {
  %r:3 = rope.online_attention ins(%q, %k, %v : tensor<2x6x4x4xf32>, tensor<2x2x0x4xf32>, tensor<2x2x0x6xf32>) mask(%mask : tensor<2x1x4x0xi1>) key_length(%len : tensor<2xi32>) outs(%o, %l, %s : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>) scale 0.5 causal -> tensor<2x6x4x6xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>
  return %r#0, %r#1, %r#2 : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>
}

func.func @linear_attention_tensor_rotated_mn(%q: tensor<2x6x0x4xf32>, %k: tensor<2x2x0x4xf32>, %v: tensor<2x2x0x6xf32>, %tq: tensor<0x2x1xf32>, %tk: tensor<0x2x1xf32>, %o: tensor<2x6x0x6xf32>, %s: tensor<2x2x4x6xf32>, %z: tensor<2x2x4xf32>) -> (tensor<2x6x0x6xf32>, tensor<2x2x4x6xf32>, tensor<2x2x4xf32>) {
  %r:3 = rope.linear_attention ins(%q, %k, %v : tensor<2x6x0x4xf32>, tensor<2x2x0x4xf32>, tensor<2x2x0x6xf32>) rotate_query(%tq : tensor<0x2x1xf32>) <half along [2]> rotate_key(%tk : tensor<0x2x1xf32>) <half along [2]> outs(%o, %s, %z : tensor<2x6x0x6xf32>, tensor<2x2x4x6xf32>, tensor<2x2x4xf32>) feature_map elu_plus_one causal normalizer_eps 1.0e-6 -> tensor<2x6x0x6xf32>, tensor<2x2x4x6xf32>, tensor<2x2x4xf32>
  return %r#0, %r#1, %r#2 : tensor<2x6x0x6xf32>, tensor<2x2x4x6xf32>, tensor<2x2x4xf32>
}

func.func @linear_attention_memref_e(%q: memref<2x6x4x4xf32>, %k: memref<2x2x4x4xf32>, %v: memref<2x2x4x0xf32>, %o: memref<2x6x4x0xf32>, %s: memref<2x2x4x0xf32>, %z: memref<2x2x4xf32>) {
  rope.linear_attention ins(%q, %k, %v : memref<2x6x4x4xf32>, memref<2x2x4x4xf32>, memref<2x2x4x0xf32>) outs(%o, %s, %z : memref<2x6x4x0xf32>, memref<2x2x4x0xf32>, memref<2x2x4xf32>) feature_map elu_plus_one causal normalizer_eps 1.0e-6
  return
}

func.func @table_tensor_a(%i: tensor<0x5xi64>, %o: tensor<0x5x2x3xf32>) -> tensor<0x5x2x3xf32> {
  %r = rope.table #rope.default<1.0e4> ins(%i : tensor<0x5xi64>) outs(%o : tensor<0x5x2x3xf32>) -> tensor<0x5x2x3xf32>
  return %r : tensor<0x5x2x3xf32>
}

func.func @table_start_memref_b(%i: index, %o: memref<0x2x3xf32>) {
  rope.table #rope.default<1.0e4> ins(%i : index) outs(%o : memref<0x2x3xf32>)
  return
}

func.func @assemble_tensor_b(%c: tensor<2x0x3xf32>, %s: tensor<2x0x3xf32>, %o: tensor<2x0x2x3xf32>) -> tensor<2x0x2x3xf32> {
  %r = rope.assemble ins(%c, %s : tensor<2x0x3xf32>, tensor<2x0x3xf32>) outs(%o : tensor<2x0x2x3xf32>) -> tensor<2x0x2x3xf32>
  return %r : tensor<2x0x2x3xf32>
}

func.func @compose_memref_a(%x: memref<0x5x2x3xf32>, %y: memref<0x5x2x3xf32>, %o: memref<0x5x2x3xf32>) {
  rope.compose ins(%x, inverse %y : memref<0x5x2x3xf32>, memref<0x5x2x3xf32>) outs(%o : memref<0x5x2x3xf32>)
  return
}

func.func @rotate_tensor_b(%x: tensor<2x3x0x8xf32>, %t: tensor<2x0x2x3xf32>, %o: tensor<2x3x0x8xf32>) -> tensor<2x3x0x8xf32> {
  %r = rope.rotate <half to interleaved offset = 1 along [0, 2]> ins(%x, %t : tensor<2x3x0x8xf32>, tensor<2x0x2x3xf32>) outs(%o : tensor<2x3x0x8xf32>) -> tensor<2x3x0x8xf32>
  return %r : tensor<2x3x0x8xf32>
}

func.func @rerotate_memref_a(%x: memref<0x3x5x8xf32>, %t: memref<0x5x2x3xf32>, %o: memref<0x3x5x8xf32>) {
  rope.rerotate <half to interleaved offset = 1 along [0, 2]> ins(%x, %t : memref<0x3x5x8xf32>, memref<0x5x2x3xf32>) outs(%o : memref<0x3x5x8xf32>)
  return
}
