// RUN: rope-opt %s --split-input-file --verify-diagnostics --rope-convert-assert | FileCheck %s

// Each assertion has its own place to stop.
// CHECK-LABEL: llvm.func @two
// CHECK-SAME: (%[[A:.*]]: i1, %[[B:.*]]: i1)
// CHECK: llvm.cond_br %[[A]], ^[[REST:.*]], ^[[STOP:.*]]
// CHECK: ^[[REST]]:
// CHECK: llvm.cond_br %[[B]], ^{{.*}}, ^{{.*}}
// CHECK: llvm.return
// CHECK: ^[[STOP]]:
// CHECK: %[[FD:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(6 : i64)
// CHECK: llvm.call @write(%[[FD]], %{{.*}}, %[[SIZE]])
// CHECK: llvm.call @abort()
// CHECK: llvm.unreachable
llvm.func @two(%a: i1, %b: i1) {
  cf.assert %a, "first"
  cf.assert %b, "second"
  llvm.return
}

// -----

module {
  // expected-error @+1 {{redefinition of function 'write' of different type}}
  llvm.func @write()
  llvm.func @f(%a: i1) {
    cf.assert %a, "text"
    llvm.return
  }
}
