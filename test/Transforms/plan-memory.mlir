// RUN: rope-opt %s --split-input-file --rope-plan-memory | FileCheck %s
// RUN: rope-opt %s --split-input-file --rope-plan-memory=keep | FileCheck %s --check-prefix=KEEP
// RUN: not rope-opt %S/Inputs/plan-memory-names.mlir --rope-plan-memory=keep 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: 'func.func' op cannot keep memory: the module defines malloc or free otherwise

func.func private @use(memref<?xf32>)

// %b is used while %a is, through a view; %c only after %a: it takes its place.
// CHECK-LABEL: func @share
// CHECK:      %[[M:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4544xi8>
// CHECK:      %[[A:.*]] = memref.view %[[M]][%c0{{.*}}][] : memref<4544xi8> to memref<1024xf32>
// CHECK:      %[[B:.*]] = memref.view %[[M]][%c4096{{.*}}][] : memref<4544xi8> to memref<100xf32>
// CHECK:      %[[C:.*]] = memref.view %[[M]][%c0{{.*}}][] : memref<4544xi8> to memref<1000xf32>
// CHECK-NEXT: memref.cast %[[C]] : memref<1000xf32> to memref<?xf32>
// CHECK:      call
// CHECK-NEXT: memref.dealloc %[[M]]
// CHECK-NEXT: return

// Kept in a global, which holds nothing while the function runs.
// KEEP:       llvm.mlir.global internal @rope_memory_of_share() {{.*}} : !llvm.ptr
// KEEP-LABEL: func @share
// KEEP:       %[[SLOT:.*]] = llvm.mlir.addressof @rope_memory_of_share
// KEEP:       %[[OLD:.*]] = llvm.atomicrmw xchg %[[SLOT]], %{{.*}} acq_rel
// KEEP:       %[[NONE:.*]] = llvm.icmp "eq" %[[OLD]]
// KEEP:       %[[BLOCK:.*]] = scf.if %[[NONE]] -> (!llvm.ptr) {
// KEEP:         llvm.call @malloc
// KEEP:       builtin.unrealized_conversion_cast {{.*}} to memref<4544xi8>
// KEEP-NOT:   memref.alloc
// KEEP:       call @use
// KEEP:       %[[SLOT:.*]] = llvm.mlir.addressof @rope_memory_of_share
// KEEP:       %[[OTHER:.*]] = llvm.atomicrmw xchg %[[SLOT]], %[[BLOCK]] acq_rel
// KEEP:       llvm.call @free(%[[OTHER]])
// KEEP:       llvm.func internal @rope_memory_of_share_free()
// KEEP:       llvm.mlir.global_dtors dtors = [@rope_memory_of_share_free]
func.func @share(%x: f32, %i: index) {
  %c1000 = arith.constant 1000 : index
  %a = memref.alloc() {alignment = 64 : i64} : memref<1024xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc(%c1000) : memref<?xf32>
  %v = memref.subview %a[0] [8] [1] : memref<1024xf32> to memref<8xf32>
  memref.store %x, %b[%i] : memref<100xf32>
  %y = memref.load %v[%i] : memref<8xf32>
  memref.store %y, %b[%i] : memref<100xf32>
  func.call @use(%c) : (memref<?xf32>) -> ()
  memref.dealloc %a : memref<1024xf32>
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<?xf32>
  return
}

// -----

// A loop that reads a buffer in its last op keeps all of it alive.
// CHECK-LABEL: func @loop
// CHECK: memref.alloc() {{.*}} : memref<128xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][]
// CHECK-DAG: memref.view %{{.*}}[%c64{{.*}}][]
func.func @loop(%x: f32, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  scf.for %j = %c0 to %n step %c1 {
    memref.store %x, %a[%i] : memref<16xf32>
    %y = memref.load %b[%i] : memref<16xf32>
    memref.store %y, %b[%j] : memref<16xf32>
  }
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}

// -----

// Elements of 24 bits lie four bytes apart.
// CHECK-LABEL: func @stride
// CHECK: memref.alloc() {{.*}} : memref<448xi8>
func.func @stride(%x: i24, %i: index) {
  %a = memref.alloc() : memref<100xi24>
  memref.store %x, %a[%i] : memref<100xi24>
  memref.dealloc %a : memref<100xi24>
  return
}

// -----

// No two symbols get one name.
// KEEP-LABEL: llvm.mlir.global internal @rope_memory_of_f()
// KEEP: llvm.mlir.global internal @rope_memory_of_f_free()
// KEEP: func.func @f_free
// KEEP: func.func @f()
// KEEP: llvm.func internal @rope_memory_of_f_free_free()
// KEEP: llvm.func internal @[[OTHER:rope_memory_of_f_free_[0-9]+]]()
// KEEP: global_dtors dtors = [@[[OTHER]]]
func.func @f_free() {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}
func.func @f() {
  %a = memref.alloc() : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  return
}

// -----

// Nothing to plan, nothing to keep.
// KEEP-LABEL: func @nothing
// KEEP-NOT: llvm
func.func @nothing(%m: memref<4xf32>) {
  return
}
