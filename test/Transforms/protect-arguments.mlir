// RUN: rope-opt %s --rope-protect-arguments | FileCheck %s

// CHECK: func @public(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index, %{{.*}}: tensor<4xf32> {bufferization.writable = true})
func.func @public(%a: tensor<4xf32>, %i: index, %b: tensor<4xf32> {bufferization.writable = true}) {
  return
}

// CHECK: func private @private(%{{.*}}: tensor<4xf32>)
func.func private @private(%a: tensor<4xf32>) {
  return
}

// CHECK: func private @external(tensor<4xf32>)
func.func private @external(tensor<4xf32>)
