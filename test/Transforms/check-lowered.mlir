// RUN: rope-opt %s --split-input-file --rope-check-lowered --verify-diagnostics
// RUN: rope-opt %s --split-input-file --rope-cpu-pipeline --verify-diagnostics

llvm.func @fine(%x: f32) -> f32 {
  llvm.return %x : f32
}

// -----

llvm.func @left(%x: f32) {
  %m = builtin.unrealized_conversion_cast %x : f32 to memref<4x16xf32>
  // expected-error @below {{'linalg.softmax' op has no lowering to the LLVM dialect}}
  linalg.softmax dimension(1) ins(%m : memref<4x16xf32>) outs(%m : memref<4x16xf32>)
  llvm.return
}
