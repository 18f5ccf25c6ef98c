// A C program includes the header, links the code and checks the numbers.
// RUN: rm -rf %t && mkdir %t
// RUN: rope-compile %s -o %t/model.o --header %t/model.h | FileCheck %s --check-prefix=DONE
// RUN: %cc -Wall -Werror -I%t %S/Inputs/compile/main.c %t/model.o -lm -o %t/static
// RUN: %t/static | FileCheck %s --check-prefix=NUMBERS
// RUN: FileCheck %s --check-prefix=LINK --input-file %t/model.h
// LINK: Link with -lm.

// RUN: rope-compile %s -o %t/libmodel.so --target-cpu native -O3
// RUN: %cc -Wall -Werror -I%t %S/Inputs/compile/main.c %t/libmodel.so -lm -o %t/shared
// RUN: %t/shared | FileCheck %s --check-prefix=NUMBERS

// RUN: rope-compile %s -o %t/model.ll -O0
// RUN: FileCheck %s --check-prefixes=LLVM,PLAIN < %t/model.ll
// RUN: rope-compile %s -o - --emit llvm --target-cpu native | FileCheck %s --check-prefixes=LLVM,INLINED

// RUN: FileCheck %s --check-prefix=HEADER < %t/model.h
// RUN: %cc -x c++ -Wall -Werror -fsyntax-only %t/model.h -Wno-pragma-once-outside-header

// DONE: model.o: {{[0-9]+}} bytes for {{.+}}, entries @main @several @odd.name @half @*/

// NUMBERS: main: 2 4 6 8
// NUMBERS: several: 1 2 scale 3 count 5 product 3 6
// NUMBERS: odd: 2.5

// LLVM: define{{.*}} void @_mlir_ciface_main(
// PLAIN: define internal {{.*}} @helper(
// INLINED-NOT: @helper(

// HEADER: #ifndef ROPE_MODEL_H
// HEADER: #ifndef ROPE_MEMREF_F32_2_DEFINED
// HEADER: float *allocated;
// HEADER: int64_t sizes[2];
// HEADER: } rope_memref_f32_2;
// HEADER: main(tensor<?x2xf32>) -> (tensor<?x2xf32>)
// HEADER-NEXT: arg0: tensor<?x2xf32>{{$}}
// HEADER-NEXT: result0: tensor<?x2xf32>, free(allocated) when done
// HEADER: void _mlir_ciface_main(rope_memref_f32_2 *result0, rope_memref_f32_2 *arg0);
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = call @helper(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

func.func private @helper(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = arith.addf %x, %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// HEADER: arg1: memref<2xf64>, may be written
// HEADER: arg2: tensor<2xi8>, may be written
// HEADER: rope_memref_f64_1 result0;
// HEADER-NEXT: float result1;
// HEADER-NEXT: int64_t result2;
// HEADER-NEXT: rope_c64 result3;
// HEADER-NEXT: } _mlir_ciface_several_results;
// HEADER: void _mlir_ciface_several(_mlir_ciface_several_results *results, float arg0, rope_memref_f64_1 *arg1, rope_memref_i8_1 *arg2);
func.func @several(%s: f32, %m: memref<2xf64>, %b: tensor<2xi8> {bufferization.writable = true})
    -> (tensor<2xf64>, f32, i64, complex<f32>) {
  %0 = bufferization.to_tensor %m restrict : memref<2xf64> to tensor<2xf64>
  %n = arith.constant 5 : i64
  %two = arith.constant 2.0 : f32
  %d = arith.mulf %s, %two : f32
  %c = complex.create %s, %d : complex<f32>
  return %0, %s, %n, %c : tensor<2xf64>, f32, i64, complex<f32>
}

// HEADER: double _mlir_ciface_odd_name(double arg0) __asm__("_mlir_ciface_odd.name");
func.func @odd.name(%x: f64) -> f64 {
  return %x : f64
}

// HEADER: C cannot call half: argument 0 is a bf16 by value.
func.func @half(%x: bf16) -> bf16 {
  return %x : bf16
}

// HEADER: C cannot call __: linkers do not take its name.
func.func @"*/"() {
  return
}
