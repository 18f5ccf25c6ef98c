// Results in memory of the caller: their descriptors follow the arguments.
// RUN: rope-compile %s -o %t.o --header %t.h --pipeline-options results-as-out-params
// RUN: FileCheck %s < %t.h

// CHECK: result0: tensor<2xf64>, memory of the caller
// CHECK: result1: f32
// CHECK: float _mlir_ciface_one(float arg0, rope_memref_f64_1 *arg1, rope_memref_f64_1 *result0);
func.func @one(%s: f32, %x: tensor<2xf64>) -> (tensor<2xf64>, f32) {
  return %x, %s : tensor<2xf64>, f32
}

// CHECK: typedef struct {
// CHECK-NEXT: float result0;
// CHECK-NEXT: int64_t result2;
// CHECK-NEXT: } _mlir_ciface_two_results;
// CHECK-NEXT: void _mlir_ciface_two(_mlir_ciface_two_results *results, float arg0, rope_memref_f64_1 *result1);
func.func @two(%s: f32) -> (f32, tensor<2xf64>, i64) {
  %0 = arith.constant dense<1.0> : tensor<2xf64>
  %n = arith.constant 5 : i64
  return %s, %0, %n : f32, tensor<2xf64>, i64
}
