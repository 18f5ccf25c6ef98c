// RUN: rope-opt %s --rope-tile="sizes=h:1,g:1" --canonicalize | FileCheck %s

// The first operand with heads does not say how many there are; another does.
// CHECK-LABEL: @from_output
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
func.func @from_output(%q: tensor<2x?x5x16xf32>, %k: tensor<2x4x7x16xf32>, %o: tensor<2x8x5x16xf32>) -> tensor<2x8x5x16xf32> {
  %r = rope.attention ins(%q, %k, %k : tensor<2x?x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) outs(%o : tensor<2x8x5x16xf32>) scale 0.25 layout <query = "bgmd", output = "b(hg)me"> -> tensor<2x8x5x16xf32>
  return %r : tensor<2x8x5x16xf32>
}
