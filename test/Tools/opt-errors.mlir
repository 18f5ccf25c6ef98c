// Bad input of every kind: a message that names the place, and exit status 1.
// RUN: rm -rf %t && mkdir %t
// RUN: not rope-opt %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: cannot open input file '{{.*}}missing.mlir': No such file or directory

// RUN: not rope-opt %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: cannot open input file '{{.*}}': Is a directory

// RUN: echo "func.func @f(" > %t/cut.mlir
// RUN: not rope-opt %t/cut.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: cut.mlir:1:14: error: expected non-function type

// RUN: head -c 500 %S/../Integration/Models/jax_half/data.npz > %t/binary.mlir
// RUN: not rope-opt %t/binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: binary.mlir:1:{{.*}}: error:

// RUN: echo "#a = #rope.spiral<1.0>" > %t/attribute.mlir
// RUN: not rope-opt %t/attribute.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: attribute.mlir:1:12: error: unknown attribute `spiral` in dialect `rope`

// RUN: echo 'func.func @f() { rope.turn return }' > %t/op.mlir
// RUN: not rope-opt %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// OP: op.mlir:1:18: error: {{.*}}'rope.turn'

// RUN: not rope-opt %s %s 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: rope-opt: Too many positional arguments specified!

// RUN: not rope-opt %s --rope-nothing 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: Unknown command line argument '--rope-nothing'

// RUN: not rope-opt %s -o %t/no/where.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: cannot open output file '{{.*}}where.mlir': No such file or directory

// RUN: not rope-opt %s --rope-cpu-pipeline=speed=fast 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not rope-opt %s --rope-tile=speed=fast 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not rope-opt %s --rope-simplify=speed=fast 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not rope-opt %s --rope-decompose=speed=fast 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not rope-opt %s --rope-convert-to-online=speed=fast 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option speed

// RUN: not rope-opt %s --rope-cpu-pipeline=lanes=7 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not rope-opt %s --rope-plan=lanes=0 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not rope-opt %s --rope-plan=lanes=128 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: opt-errors.mlir:{{.*}}: error: rope-plan: lanes must be a power of two up to 64, not {{7|0|128}}

// RUN: not rope-opt %s --rope-cpu-pipeline=stream-bytes=-5 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: not rope-opt %s --rope-rotation-to-vector=stream-bytes=-5 2>&1 | FileCheck %s --check-prefix=STREAM
// STREAM: opt-errors.mlir:{{.*}}: error: rope-rotation-to-vector: stream-bytes must not be negative, got -5

// RUN: not rope-opt %s --rope-tile-linalg=lanes=7 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not rope-opt %s --rope-tile-linalg=lanes=2 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not rope-opt %s --rope-tile-linalg=lanes=128 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: opt-errors.mlir:{{.*}}: error: rope-tile-linalg: lanes must be a power of two from 4 to 64, not {{7|2|128}}

// RUN: not rope-opt %s --rope-tile=key-splits=many 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: for the --key-splits option: 'many' value invalid

// RUN: not rope-opt %s --rope-simplify=merge-rotations=maybe 2>&1 | FileCheck %s --check-prefix=BOOLEAN
// BOOLEAN: for the --merge-rotations option: 'maybe' is invalid value for boolean argument!

func.func @f() {
  return
}
