// Loops over buffers that threads share by OpenMP.

// RUN: rope-opt %s --split-input-file --verify-diagnostics --rope-share-loops --canonicalize | FileCheck %s

// A thread has one buffer for all iterations of its share.
// CHECK-LABEL: func @panels
// CHECK: omp.parallel if(%true) {
// CHECK: %[[P:.*]] = memref.alloc() : memref<64xf32>
// CHECK: omp.wsloop schedule(static) {
// CHECK: omp.loop_nest (%[[I:.*]]) : i64 = (%{{.*}}) to (%c8_i64) step (%c1_i64)
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK: %[[J:.*]] = arith.muli %[[N]], %c64
// CHECK: memref.subview %{{.*}}[%[[J]]] [64] [1]
// CHECK: memref.copy %{{.*}}, %[[P]]
// CHECK: omp.yield
// CHECK: memref.dealloc %[[P]]
// CHECK-NEXT: omp.terminator
func.func @panels(%x: memref<512xf32>) {
  scf.forall (%j) = (0) to (512) step (64) {
    %p = memref.alloc() : memref<64xf32>
    %s = memref.subview %x[%j] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
    memref.copy %s, %p : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    linalg.exp ins(%p : memref<64xf32>) outs(%s : memref<64xf32, strided<[1], offset: ?>>)
    memref.dealloc %p : memref<64xf32>
  }
  return
}

// -----

// Bounds that are not known; nobody is called for one iteration, or for none.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[A:.*]]: index, %[[B:.*]]: index, %[[S:.*]]: index)
// CHECK: %[[D:.*]] = arith.subi %[[B]], %[[A]]
// CHECK: %[[L:.*]] = arith.maxsi %[[D]], %c0
// CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %[[S]]
// CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[COUNT]], %c1
// CHECK: omp.parallel if(%[[MANY]])
// CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[S]]
// CHECK: %[[I:.*]] = arith.addi %[[A]], %[[OFFSET]]
// CHECK: memref.store %{{.*}}, %[[X]][%[[I]]]
func.func @dynamic(%x: memref<?xf32>, %a: index, %b: index, %s: index) {
  %z = arith.constant 0.0 : f32
  scf.forall (%i) = (%a) to (%b) step (%s) {
    memref.store %z, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// All dims are one range. What is within is no loop of threads again.
// CHECK-LABEL: func @nest
// CHECK: omp.loop_nest (%[[N:.*]]) : i64 = (%{{.*}}) to (%c12_i64)
// CHECK: %[[AT:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[J:.*]] = arith.remui %[[AT]], %c4
// CHECK: %[[I:.*]] = arith.divui %[[AT]], %c4
// CHECK: scf.for %[[K:.*]] = %c0 to %c5
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK-NOT: omp.parallel
// CHECK: return
func.func @nest(%x: memref<3x4x5xf32>) {
  %z = arith.constant 0.0 : f32
  scf.forall (%i, %j) in (3, 4) {
    scf.forall (%k) in (5) {
      memref.store %z, %x[%i, %j, %k] : memref<3x4x5xf32>
    }
  }
  return
}

// -----

// The same for one that some iterations need, if each of them needs it once.
// CHECK-LABEL: func @some
// CHECK: omp.parallel
// CHECK: %[[P:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NOT: memref.alloc
// CHECK: omp.loop_nest
// CHECK: scf.if
// CHECK: memref.copy %{{.*}}, %[[P]]
// CHECK-NOT: memref.dealloc
// CHECK: scf.for
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: memref.dealloc
// CHECK: omp.yield
// CHECK: memref.dealloc %[[P]]
func.func @some(%x: memref<8xf32>, %y: memref<8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (8) {
    scf.if %c {
      %p = memref.alloc() : memref<8xf32>
      memref.copy %x, %p : memref<8xf32> to memref<8xf32>
      memref.copy %p, %y : memref<8xf32> to memref<8xf32>
      memref.dealloc %p : memref<8xf32>
    }
    scf.for %j = %c0 to %i step %c1 {
      %p = memref.alloc() : memref<8xf32>
      memref.copy %x, %p : memref<8xf32> to memref<8xf32>
      memref.copy %p, %y : memref<8xf32> to memref<8xf32>
      memref.dealloc %p : memref<8xf32>
    }
  }
  return
}

// -----

// A buffer stays in its iteration if its size depends on that, or if not every
// iteration frees it at its end.
// CHECK-LABEL: func @own
// CHECK: omp.parallel
// CHECK-NOT: memref.alloc
// CHECK: omp.loop_nest
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: memref.dealloc
// CHECK: scf.if
// CHECK: memref.dealloc
// CHECK: omp.yield
func.func @own(%x: memref<8xf32>, %c: i1, %keep: memref<8xmemref<8xf32>>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  scf.forall (%i) in (8) {
    %p = memref.alloc(%i) : memref<?xf32>
    memref.store %z, %p[%c0] : memref<?xf32>
    %last = memref.load %p[%i] : memref<?xf32>
    memref.store %last, %x[%i] : memref<8xf32>
    %q = memref.alloc() : memref<8xf32>
    memref.copy %x, %q : memref<8xf32> to memref<8xf32>
    memref.dealloc %p : memref<?xf32>
    scf.if %c {
      memref.dealloc %q : memref<8xf32>
    } else {
      memref.store %q, %keep[%i] : memref<8xmemref<8xf32>>
    }
  }
  return
}

// -----

// What an iteration takes of the stack, it gives back.
// CHECK-LABEL: func @stack
// CHECK: omp.loop_nest
// CHECK: memref.alloca_scope {
// CHECK-NEXT: %[[P:.*]] = memref.alloca()
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: }
// CHECK-NEXT: omp.yield
func.func @stack(%x: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  scf.forall (%i) in (8) {
    %p = memref.alloca() : memref<8xf32>
    memref.store %z, %p[%i] : memref<8xf32>
    %v = memref.load %p[%i] : memref<8xf32>
    memref.store %v, %x[%i] : memref<8xf32>
  }
  return
}

// -----

func.func @tensors(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'scf.forall' op works on tensors: bufferize it first}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
