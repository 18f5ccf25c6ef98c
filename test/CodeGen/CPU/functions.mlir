// Functions of vector code: one for all ops that are alike.

// RUN: rope-opt %s --split-input-file --rope-plan --rope-attention-to-vector --rope-linear-attention-to-vector | FileCheck %s

!Q = memref<32x8xf32>
!S = memref<32x8xf32, strided<[16, 2]>>

// CHECK-LABEL: func.func @layers
// CHECK-SAME: %[[Q:[^:]*]]: memref<32x8xf32>, %[[O:[^:]*]]: memref<32x8xf32>)
func.func @layers(%q: !Q, %o: !Q) {
  // CHECK: %[[X:.*]] = memref.alloc()
  %x = memref.alloc() : !Q
  // CHECK: call @rope_attention(%[[Q]], %[[Q]], %[[Q]], %[[X]])
  rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%x : !Q) scale 0.5
  // CHECK: call @rope_attention(%[[X]], %[[Q]], %[[Q]], %[[O]])
  rope.attention ins(%x, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  // CHECK: call @rope_attention_0(%[[X]], %[[Q]], %[[Q]], %[[O]])
  rope.attention ins(%x, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.25
  // CHECK: call @rope_attention_1(%[[X]], %[[Q]], %[[Q]], %[[O]])
  rope.attention ins(%x, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5 {rope.plan = #rope.cpu_plan<rows = 2>}
  memref.dealloc %x : !Q
  return
}

// Rows are vectors: operands without unit stride are copied.
// CHECK-LABEL: func.func @strides
// CHECK-SAME: %[[Q:[^:]*]]: memref<32x8xf32>, %[[K:[^:]*]]: memref<32x8xf32, strided<[16, 2]>>, %[[O:[^:]*]]: memref<32x8xf32, strided<[16, 2]>>)
func.func @strides(%q: !Q, %k: !S, %o: !S) {
  // CHECK: %[[PLAIN_K:.*]] = memref.alloc() : memref<32x8xf32>
  // CHECK: memref.copy %[[K]], %[[PLAIN_K]]
  // CHECK: %[[PLAIN_O:.*]] = memref.alloc() : memref<32x8xf32>
  // CHECK: call @rope_attention(%[[Q]], %[[PLAIN_K]], %[[Q]], %[[PLAIN_O]])
  // CHECK: memref.copy %[[PLAIN_O]], %[[O]]
  // CHECK: memref.dealloc %[[PLAIN_O]]
  // CHECK: memref.dealloc %[[PLAIN_K]]
  rope.attention ins(%q, %k, %q : !Q, !S, !Q) outs(%o : !S) scale 0.5
  return
}

// CHECK: func.func private @rope_attention({{.*}}) attributes {no_inline}
// CHECK: func.func private @rope_attention_0({{.*}}) attributes {no_inline}
// CHECK: func.func private @rope_attention_1({{.*}}) attributes {no_inline}
// CHECK-NOT: rope.attention

// -----

// One op takes a buffer twice, the other two buffers: the function they share
// reads all that it is given.
// RUN: rope-opt %s --split-input-file --rope-plan --rope-attention-to-vector --rope-linear-attention-to-vector | FileCheck %s --check-prefix=READS
!Q = memref<32x8xf32>
func.func @twice(%q: !Q, %k: !Q, %v: !Q, %o: !Q) {
  rope.attention ins(%k, %k, %k : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  rope.attention ins(%q, %k, %v : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  rope.linear_attention ins(%k, %k, %k : !Q, !Q, !Q) outs(%o : !Q) feature_map exp
  rope.linear_attention ins(%q, %k, %v : !Q, !Q, !Q) outs(%o : !Q) feature_map exp
  return
}

// READS-LABEL: func.func @twice
// READS: func.func private @rope_attention(%[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// READS-DAG: vector.load %[[Q]]
// READS-DAG: vector.load %[[K]]
// READS-DAG: vector.load %[[V]]
// READS: func.func private @rope_linear_attention(%[[LQ:[^:]*]]: {{[^,]*}}, %[[LK:[^:]*]]: {{[^,]*}}, %[[LV:[^:]*]]:
// READS-DAG: vector.load %[[LQ]]
// READS-DAG: vector.load %[[LK]]
// READS-DAG: vector.load %[[LV]]

// -----

!Q = memref<32x8xf32>

// Each module has functions of its own.
// CHECK: module @first {
// CHECK: call @rope_attention(
// CHECK: call @rope_linear_attention(
// CHECK: func.func private @rope_attention(
// CHECK: func.func private @rope_linear_attention(
module @first {
  func.func @f(%q: !Q, %o: !Q) {
    rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
    rope.linear_attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) feature_map exp
    return
  }
}
// CHECK: module @second {
// CHECK: call @rope_attention(
// CHECK: call @rope_linear_attention(
// CHECK: func.func private @rope_attention(
// CHECK: func.func private @rope_linear_attention(
// CHECK-NOT: func.func
module @second {
  func.func @f(%q: !Q, %o: !Q) {
    rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
    rope.linear_attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) feature_map exp
    return
  }
}
