// What LLVM is kept from doing in vain.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=znver4 -O1 -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: rope-compile %s --target-cpu=znver4 -O0 -o %t.plain.ll
// RUN: FileCheck %s --check-prefix=PLAIN < %t.plain.ll

// The kernel is a part of its only caller, and its loops are not looked at to be
// unrolled.
// CHECK-NOT: @rope_attention
// CHECK-LABEL: define void @_mlir_ciface_kernel(
// CHECK: br i1 {{.*}}, !llvm.loop ![[$LOOP:[0-9]+]]
func.func @kernel(%q: memref<8x2048x64xf32>, %k: memref<8x2048x64xf32>, %v: memref<8x2048x64xf32>, %o: memref<8x2048x64xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>)
    outs(%o : memref<8x2048x64xf32>) scale 0.125
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
  return
}

// A kernel of two callers is called by both, and not looked at to be inlined.
// CHECK: Function Attrs: noinline
// CHECK-NEXT: define internal {{.*}} @shared(
// CHECK-LABEL: define void @_mlir_ciface_callers(
// CHECK-COUNT-2: call {{.*}} @shared(
func.func private @shared(%q: memref<8x2048x64xf32>, %k: memref<8x2048x64xf32>, %v: memref<8x2048x64xf32>, %o: memref<8x2048x64xf32>) {
  rope.attention ins(%q, %k, %v : memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>)
    outs(%o : memref<8x2048x64xf32>) scale 0.25
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
  return
}
func.func @callers(%q: memref<8x2048x64xf32>, %k: memref<8x2048x64xf32>, %v: memref<8x2048x64xf32>, %o: memref<8x2048x64xf32>, %p: memref<8x2048x64xf32>) {
  call @shared(%q, %k, %v, %o) : (memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>) -> ()
  call @shared(%o, %k, %v, %p) : (memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>) -> ()
  return
}

// Nothing is to be inlined and not to be.
// CHECK: Function Attrs: alwaysinline nounwind
// CHECK-NEXT: define void @_mlir_ciface_inlined(
func.func @inlined(%q: memref<8x2048x64xf32>, %k: memref<8x2048x64xf32>, %v: memref<8x2048x64xf32>, %o: memref<8x2048x64xf32>) attributes {passthrough = ["alwaysinline"]} {
  rope.attention ins(%q, %k, %v : memref<8x2048x64xf32>, memref<8x2048x64xf32>, memref<8x2048x64xf32>)
    outs(%o : memref<8x2048x64xf32>) scale 0.75
    layout <query = "hmd", key = "hnd", value = "hne", output = "hme">
  return
}

// Without optimization it takes what it is given.
// PLAIN: define internal float @first(float %{{[^,]*}}, float %{{[^,]*}})
func.func private @first(%x: f32, %y: f32) -> f32 {
  return %x : f32
}
func.func @calls(%x: f32, %y: f32) -> f32 {
  %r = call @first(%x, %y) : (f32, f32) -> f32
  return %r : f32
}

// Small loops are.
// CHECK-LABEL: define void @_mlir_ciface_small(
// CHECK-COUNT-4: fdiv float
// CHECK: ret void
func.func @small(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.addi %i, %c1 : index
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = memref.load %x[%j] : memref<?xf32>
    %2 = arith.divf %0, %1 : f32
    memref.store %2, %x[%j] : memref<?xf32>
  }
  return
}

// Those over vectors are not.
// CHECK-LABEL: define void @_mlir_ciface_vectors(
// CHECK: fdiv <16 x float>
// CHECK-NOT: fdiv
// CHECK: ret void
func.func @vectors(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %j = arith.addi %i, %c16 : index
    %0 = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %1 = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
    %2 = arith.divf %0, %1 : vector<16xf32>
    vector.store %2, %x[%j] : memref<?xf32>, vector<16xf32>
  }
  return
}

// CHECK: ![[$LOOP]] = distinct !{![[$LOOP]], ![[DISABLED:[0-9]+]]}
// CHECK-NEXT: ![[DISABLED]] = !{!"llvm.loop.unroll.disable"
