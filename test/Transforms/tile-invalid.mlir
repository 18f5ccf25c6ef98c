// RUN: not rope-opt %s --rope-tile="sizes=d:4" 2>&1 | FileCheck %s --check-prefix=LETTER
// RUN: not rope-opt %s --rope-tile="sizes=m:0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not rope-opt %s --rope-tile="sizes=m" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not rope-opt %s --rope-tile="dims=-1" 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: not rope-opt %s --rope-tile="key-splits=-2" 2>&1 | FileCheck %s --check-prefix=SPLITS
// RUN: not rope-opt %s --rope-tile="sizes=g:2" 2>&1 | FileCheck %s --check-prefix=GROUP

// LETTER: error: rope-tile: sizes has 'd:4', expected one of b, h, g, m, n, ':' and a positive number
// ZERO: error: rope-tile: sizes has 'm:0'
// NUMBER: error: rope-tile: sizes has 'm'
// DIMS: error: rope-tile: dims has the negative size -1
// SPLITS: error: rope-tile: key-splits is negative
func.func @f(%q: tensor<8x64x16xf32>, %k: tensor<2x64x16xf32>, %o: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // GROUP: tile-invalid.mlir:[[#@LINE + 1]]:{{.*}}: error: {{.*}} would not be one piece
  %r = rope.attention ins(%q, %k, %k : tensor<8x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>)
    outs(%o : tensor<8x64x16xf32>) scale 0.25 -> tensor<8x64x16xf32>
  return %r : tensor<8x64x16xf32>
}
