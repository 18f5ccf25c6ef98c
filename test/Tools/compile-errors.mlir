// Bad input of every kind: a message that names the place, and exit status 1.
// RUN: rm -rf %t && mkdir %t
// RUN: not rope-compile %t/missing.mlir -o %t/x.o 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: cannot open input file '{{.*}}missing.mlir': No such file or directory

// RUN: echo "func.func @f() { return %%x : f32 }" > %t/broken.mlir
// RUN: not rope-compile %t/broken.mlir -o %t/x.o 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: broken.mlir:1:25: error: use of undeclared SSA value name

// RUN: echo "module {}" > %t/none.mlir
// RUN: not rope-compile %t/none.mlir -o %t/x.o 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: rope-compile: error: the module has no public function with a body

// RUN: not rope-compile %s 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: for the -o option: must be specified at least once!

// RUN: not rope-compile %s -o %t/x.exe 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: rope-compile: error: cannot tell from '{{.*}}x.exe' what to write: name it .o, .so or .ll, or give --emit

// RUN: not rope-compile %s -o %t/x.o --emit asm 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: for the --emit option: Cannot find option named 'asm'!

// RUN: not rope-compile %s -o %t/no/x.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: rope-compile: error: cannot write '{{.*}}x.o': No such file or directory

// RUN: not rope-compile %s -o %t --emit obj 2>&1 | FileCheck %s --check-prefix=ISDIR
// ISDIR: rope-compile: error: cannot write '{{.*}}': Is a directory

// RUN: not rope-compile %t -o %t/x.o 2>&1 | FileCheck %s --check-prefix=READ
// READ: error: cannot open input file '{{.*}}': Is a directory

// RUN: not rope-compile %s -o %t/no/x.so 2>&1 | FileCheck %s --check-prefix=LINK
// LINK: rope-compile: error: '{{.*}}' failed: {{.*}}x.so

// RUN: not rope-compile %s -o %t/x.o --header %t/no/x.h 2>&1 | FileCheck %s --check-prefix=HEADER
// HEADER: rope-compile: error: cannot write '{{.*}}x.h': No such file or directory

// RUN: not rope-compile %s -o %t/x.o --target-cpu z80 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: rope-compile: error: unknown target CPU 'z80'

// RUN: not rope-compile %s -o %t/x.o --target-features avx2 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: rope-compile: error: unknown target feature 'avx2', expected +NAME or -NAME

// RUN: not rope-compile %s -o %t/x.o -O9 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: rope-compile: error: unknown optimization level 9, expected 0 to 3

// RUN: not rope-compile %s -o %t/x.o --pipeline-options portable=maybe 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: rope-compile: error: bad pipeline options 'portable=maybe'

// RUN: not rope-compile %s -o %t/x.o --pipeline-options lookup 2>&1 | FileCheck %s --check-prefix=LOOKUP
// LOOKUP: rope-compile: error: bad pipeline options 'lookup': lookup wants a processor with AVX-512

// RUN: not rope-compile %s -o %t/x.o --pipeline-options dots 2>&1 | FileCheck %s --check-prefix=DOTS
// DOTS: rope-compile: error: bad pipeline options 'dots': dots wants a processor with AVX512-BF16

// RUN: sed -n 's/^\/\/ PLANNED //p' %s > %t/planned.mlir
// RUN: not rope-compile %t/planned.mlir -o %t/x.o --target-cpu haswell 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: planned.mlir:2:8: error: 'rope.attention' op has a plan with lookup, which wants a target with AVX-512
// PLANNED func.func @f(%q: tensor<40x8xf32>, %o: tensor<40x8xf32>) -> tensor<40x8xf32> {
// PLANNED   %r = rope.attention ins(%q, %q, %q : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>) outs(%o : tensor<40x8xf32>) scale 0.5 {rope.plan = #rope.cpu_plan<lookup = true>} -> tensor<40x8xf32>
// PLANNED   return %r : tensor<40x8xf32>
// PLANNED }

// RUN: echo 'func.func @f(%%x: tensor<2xf32>) -> tensor<2xf32> { %%0 = "what.is"(%%x) : (tensor<2xf32>) -> tensor<2xf32> return %%0 : tensor<2xf32> }' > %t/unknown.mlir
// RUN: not rope-compile %t/unknown.mlir -o %t/x.o 2>&1 | FileCheck %s --check-prefix=DIALECT
// DIALECT: unknown.mlir:1:66: error: operation being parsed with an unregistered dialect

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
