// Every buffer is freed once: by the function, or by the caller when it is a
// result. Arguments are never written. Inputs/ownership.c counts.

// RUN: rope-opt %s --rope-cpu-pipeline | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -w -O1 -Wl,--wrap=malloc -Wl,--wrap=free %S/Inputs/ownership.c -x ir %t.ll -o %t.exe -lm
// RUN: %t.exe | FileCheck %s
// RUN: rope-opt %s --rope-cpu-pipeline=portable | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -w -O1 -Wl,--wrap=malloc -Wl,--wrap=free %S/Inputs/ownership.c -x ir %t.ll -o %t.exe -lm
// RUN: %t.exe | FileCheck %s

// CHECK: argument: ok
// CHECK-NEXT: constant: ok
// CHECK-NEXT: twice: ok
// CHECK-NEXT: either: ok
// CHECK-NEXT: either: ok
// CHECK-NEXT: loop: ok
// CHECK-NEXT: slice: ok
// CHECK-NEXT: update: ok
// CHECK-NEXT: call: ok

func.func @argument(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  return %x : tensor<?xf32>
}

func.func @constant(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = tensor.cast %c : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @twice(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) attributes {llvm.emit_c_interface} {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0, %0 : tensor<?xf32>, tensor<?xf32>
}

func.func @either(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %c2 = arith.constant 2 : index
  %big = arith.cmpi sgt, %n, %c2 : index
  %0 = scf.if %big -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    %1 = arith.addf %x, %x : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

func.func @loop(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %1 = arith.addf %a, %x : tensor<?xf32>
    %2 = tensor.concat dim(0) %1, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %3 = tensor.dim %x, %c0 : tensor<?xf32>
    %4 = tensor.extract_slice %2[0] [%3] [1] : tensor<?xf32> to tensor<?xf32>
    scf.yield %4 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

func.func @slice(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %0 = arith.addf %x, %x : tensor<?xf32>
  %1 = tensor.extract_slice %0[1] [2] [1] : tensor<?xf32> to tensor<2xf32>
  %2 = tensor.cast %1 : tensor<2xf32> to tensor<?xf32>
  return %2 : tensor<?xf32>
}

func.func @update(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %f = arith.constant 7.0 : f32
  %0 = tensor.insert %f into %x[%c0] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @callee(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = math.absf %x : tensor<?xf32>
  return %x, %0 : tensor<?xf32>, tensor<?xf32>
}

func.func @call(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {llvm.emit_c_interface} {
  %0:2 = call @callee(%x) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %1 = arith.addf %0#0, %0#1 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
