// RUN: rope-opt %s --rope-normalize-linalg --rope-pack-weights --verify-diagnostics
// RUN: not rope-opt %s --rope-pack-weights=lanes=0 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not rope-opt %s --rope-pack-weights=registers=-1 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not rope-opt %s --rope-pack-weights="lanes=32 dots" 2>&1 | FileCheck %s --check-prefix=DOTS

// LANES: error: rope-pack-weights: lanes must be a power of two from 4 to 64, not 0
// REGISTERS: error: rope-pack-weights: registers must be positive, not -1
// DOTS: error: rope-pack-weights: dots wants up to 16 lanes, not 32

// expected-error @below {{cannot have weights packed: the module defines @pack_weights_of_f already}}
func.func @f(%x: tensor<20x32xf32>, %w: tensor<32x128xf32> {rope.weight}, %c: tensor<20x128xf32>) -> tensor<20x128xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x128xf32>) outs(%c : tensor<20x128xf32>) -> tensor<20x128xf32>
  return %r : tensor<20x128xf32>
}

func.func private @pack_weights_of_f()
