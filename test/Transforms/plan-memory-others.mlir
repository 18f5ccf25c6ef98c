// What shares no memory.

// RUN: rope-opt %s --rope-plan-memory --allow-unregistered-dialect | FileCheck %s --implicit-check-not=memref.view
// RUN: rope-opt %s --rope-plan-memory=keep --allow-unregistered-dialect | FileCheck %s --implicit-check-not=memref.view

func.func private @pass(memref<16xf32>) -> memref<16xf32>

// What the caller gets, what is freed only sometimes, not at all, or as what a
// function hands back, what has no known size, and what a loop allocates.
// CHECK-LABEL: func @others
// CHECK-COUNT-6: memref.alloc(
func.func @others(%n: index, %cond: i1, %x: f32) -> memref<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %result = memref.alloc() : memref<16xf32>
  %maybe = memref.alloc() : memref<16xf32>
  scf.if %cond {
    memref.dealloc %maybe : memref<16xf32>
  }
  %never = memref.alloc() : memref<16xf32>
  memref.store %x, %never[%c0] : memref<16xf32>
  %passed = memref.alloc() : memref<16xf32>
  %back = func.call @pass(%passed) : (memref<16xf32>) -> memref<16xf32>
  memref.dealloc %back : memref<16xf32>
  %dynamic = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %dynamic : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %inner = memref.alloc() : memref<16xf32>
    memref.store %x, %inner[%c0] : memref<16xf32>
    memref.dealloc %inner : memref<16xf32>
  }
  return %result : memref<16xf32>
}

// Whose address goes where it cannot be followed: into a tensor, a pointer, an
// op that nobody knows, and a region that is no control flow.
// CHECK-LABEL: func @hidden
// CHECK-COUNT-4: memref.alloc(
func.func @hidden(%i: index, %x: f32) -> (f32, f32) {
  %a = memref.alloc() : memref<16xf32>
  %t = bufferization.to_tensor %a restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.extract %t[%i] : tensor<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %p = builtin.unrealized_conversion_cast %b : memref<16xf32> to !llvm.ptr
  %f = llvm.load %p : !llvm.ptr -> f32
  %c = memref.alloc() : memref<16xf32>
  "test.use"(%c) : (memref<16xf32>) -> ()
  %d = memref.alloc() : memref<16xf32>
  memref.alloca_scope {
    memref.store %x, %d[%i] : memref<16xf32>
  }
  "test.region"() ({
    memref.store %x, %d[%i] : memref<16xf32>
  }) : () -> ()
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  memref.dealloc %c : memref<16xf32>
  memref.dealloc %d : memref<16xf32>
  return %e, %f : f32, f32
}
