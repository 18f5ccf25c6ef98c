// Rows of this block's output, of the next block's queries and of the next
// head's keys and values are asked for by four of the last eight panels of 32,
// which have an item for each of the 16 rows of a block: any earlier, the keys
// and values that still come would drive them out of the cache again.

// RUN: rope-opt %s --rope-attention-to-vector --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @late(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<1x1x512x64xf32>, %[[K:[a-z0-9]*]]: memref<1x1x2048x64xf32>, %[[V:[a-z0-9]*]]: memref<1x1x2048x64xf32>, %[[O:[a-z0-9]*]]: memref<1x1x512x64xf32>
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[BEFORE:.*]] = arith.constant -1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[PANELS:.*]] = arith.subi %{{.*}}, %[[C24]]
// CHECK: %[[STARTED:.*]] = arith.cmpi sgt, %[[PANELS]], %[[BEFORE]]
// CHECK: %[[GOES_ON:.*]] = arith.cmpi slt, %[[PANELS]], %[[C4]]
// CHECK: %[[ASKS:.*]] = arith.andi %[[STARTED]], %[[GOES_ON]]
// CHECK: scf.if %[[ASKS]]
// CHECK: arith.muli %[[PANELS]],
// CHECK-COUNT-4: memref.prefetch %[[O]]{{.*}}, write
// CHECK: arith.addi %{{.*}}, %[[C16]]
// CHECK-COUNT-4: memref.prefetch %[[Q]]{{.*}}, read
// CHECK-COUNT-4: memref.prefetch %[[K]]{{.*}}, read
// CHECK-COUNT-4: memref.prefetch %[[V]]{{.*}}, read
// CHECK-NOT: memref.prefetch
func.func @late(%q: memref<1x1x512x64xf32>, %k: memref<1x1x2048x64xf32>, %v: memref<1x1x2048x64xf32>, %o: memref<1x1x512x64xf32>) {
  rope.attention ins(%q, %k, %v : memref<1x1x512x64xf32>, memref<1x1x2048x64xf32>, memref<1x1x2048x64xf32>) outs(%o : memref<1x1x512x64xf32>) scale 0.125
    {rope.plan = #rope.cpu_plan<lanes = 16, rows = 4, keys = 4, channels = 4, group = 1, strips = 4, weave = 8, stream = 0>}
  return
}
