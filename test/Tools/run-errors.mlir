// Bad input of every kind: a message that names the place, and exit status 1.
// RUN: rm -rf %t && mkdir %t
// RUN: rope-run %s --entry f --random 1 --dims 2 --output-dir %t/f --save %t/f.npz
// RUN: rope-run %s --entry wide --random 1 --output-dir %t/wide
// RUN: echo hello > %t/text.npy && echo hello > %t/text.npz
// RUN: head -c 100 %t/f/out0.npy > %t/cut.npy
// RUN: cp %t/f/out0.npy %t/x.npy

// RUN: not rope-run %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: cannot open input file '{{.*}}missing.mlir': No such file or directory

// RUN: echo "func.func @f( {" > %t/broken.mlir
// RUN: not rope-run %t/broken.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: broken.mlir:1:14: error:

// RUN: echo "module {}" > %t/none.mlir
// RUN: not rope-run %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: rope-run: error: the module has no public function with a body

// RUN: not rope-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: rope-run: error: the module has several entries, name one: @f, @wide, @odd, @two

// RUN: not rope-run %s --entry g 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: rope-run: error: the module has no entry @g, only @f, @wide, @odd, @two

// RUN: not rope-run %s --entry odd 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: rope-run: error: cannot call @odd: argument 0 has the type tensor<*xf32>, which a call cannot pass

// RUN: not rope-run %s --entry f 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not rope-run %s --entry f %t/x.npy %t/x.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: rope-run: error: @f takes 1 arguments, got {{[02]}} files: f(tensor<?x2xf32>) -> (tensor<?x2xf32>)

// RUN: not rope-run %s --entry f %t/nothing.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: rope-run: error: argument 0: cannot read '{{.*}}nothing.npy': No such file or directory

// RUN: not rope-run %s --entry f %t/text.npy 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: rope-run: error: argument 0: '{{.*}}text.npy': not an .npy file

// RUN: not rope-run %s --entry f %t/cut.npy 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: rope-run: error: argument 0: '{{.*}}cut.npy': the file ends inside its header

// RUN: not rope-run %s --entry f %t/text.npz 2>&1 | FileCheck %s --check-prefix=ZIP
// ZIP: rope-run: error: '{{.*}}text.npz': not an .npz file

// RUN: not rope-run %s --entry f %t/f.npz 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: rope-run: error: argument 0: '{{.*}}f.npz' has no array called in0

// RUN: %python -c "import numpy as np; x = np.zeros((2, 2), np.float32); np.savez('%t/many.npz', in0=x, in1=x)"
// RUN: not rope-run %s --entry f %t/many.npz 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: rope-run: error: '{{.*}}many.npz' has an array for argument 1, but @f takes 1: f(tensor<?x2xf32>)

// RUN: not rope-run %s --entry f %t/wide/out0.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: rope-run: error: argument 0 ('{{.*}}out0.npy'): expected tensor<?x2xf32>, got f64[2]

// RUN: not rope-run %s --entry f --random 1 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: rope-run: error: argument 0 is tensor<?x2xf32>: give its sizes by --shape 0=AxB or --dims N

// RUN: not rope-run %s --entry f --random 1 --shape 0=4x3 2>&1 | FileCheck %s --check-prefix=STATIC
// STATIC: rope-run: error: argument 0: expected tensor<?x2xf32>, got f32[4x3]

// RUN: not rope-run %s --entry f --random 1 --shape 0:4x2 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: rope-run: error: --shape 0:4x2: expected INDEX=AxBxC

// RUN: not rope-run %s --entry f --random 1 --shape 0=4x2 --shape 0=3x2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: rope-run: error: --shape 0=3x2: argument 0 has a shape already

// RUN: not rope-run %s --entry f --random 1 --shape 3=4 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: rope-run: error: --shape 3=4: @f takes 1 arguments

// RUN: not rope-run %s --entry f --random 1 --shape 0=9000000000000000000x2 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: rope-run: error: argument 0: an array of shape 9000000000000000000x2 is too large

// RUN: not rope-run %s --entry f --random 1 --dims -3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: rope-run: error: --dims -3: a size cannot be negative

// RUN: not rope-run %s --entry f %t/x.npy --random 1 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: rope-run: error: give either input files or --random or --input-spec

// RUN: not rope-run %s --entry f %t/x.npy --shape 0=2x2 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: rope-run: error: --shape and --dims need --random

// RUN: not rope-run %s --entry f --random many 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: for the --random option: 'many' value invalid for uint argument!

// RUN: not rope-run %s --entry f --fast 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: Unknown command line argument '--fast'

// RUN: not rope-run 2>&1 | FileCheck %s --check-prefix=NOMODEL
// NOMODEL: Not enough positional command line arguments specified!

// RUN: not rope-run %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot open input file '{{.*}}': Is a directory

// RUN: not rope-run %s --entry f %t/x.npy --target-cpu z80 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown target CPU 'z80'

// RUN: not rope-run %s --entry f %t/x.npy --pipeline-options speed=fast 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: error: bad pipeline options 'speed=fast'

// RUN: not rope-run %s --entry f %t/x.npy -O7 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: unknown optimization level 7, expected 0 to 3

// RUN: not rope-run %s --entry f %t/x.npy --expect %t/nothing.npz 2>&1 | FileCheck %s --check-prefix=EXPECT
// EXPECT: rope-run: error: cannot read '{{.*}}nothing.npz': No such file or directory

// RUN: not rope-run %s --entry two --random 1 --expect %t/f.npz 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: rope-run: error: result 1: no expected values: neither out1 nor pos1 and val1

// RUN: not rope-run %s --entry f --random 1 --dims 3 --expect %t/f.npz 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: rope-run: error: result 0: has the shape [3x2], expected [2x2]

// RUN: not rope-run %s --entry f %t/x.npy --save %t/no/where.npz 2>&1 | FileCheck %s --check-prefix=SAVE
// SAVE: rope-run: error: cannot write '{{.*}}where.npz': No such file or directory

// RUN: not rope-run %s --entry f %t/x.npy --save %t 2>&1 | FileCheck %s --check-prefix=ISDIR
// ISDIR: rope-run: error: cannot write '{{.*}}': Is a directory

// RUN: not rope-run %s --entry f %t/x.npy --output-dir %t/x.npy 2>&1 | FileCheck %s --check-prefix=NOTDIR
// NOTDIR: rope-run: error: {{.*}}x.npy{{.*}}: Not a directory

// RUN: not rope-run %s --entry f %t/x.npy --rtol 1e-3 2>&1 | FileCheck %s --check-prefix=RTOL
// RTOL: rope-run: error: --rtol needs --expect or --compare

// RUN: not rope-run %s --entry f %t/x.npy --compare --rtol -1 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not rope-run %s --entry f %t/x.npy --compare --rtol nan 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: rope-run: error: --rtol: expected a number that is not negative

// RUN: echo "[{}]" > %t/a.json && echo "3" > %t/b.json && echo "[" > %t/c.json
// RUN: echo '[{"shape": [2,2], "dtype": "float32", "dist": "poisson"}]' > %t/d.json
// RUN: echo '[{"shape": [2,2], "dtype": "float33", "dist": "ones"}]' > %t/e.json
// RUN: echo '[{"shape": [2,2], "dtype": "int32", "dist": "integers", "scale": 0}]' > %t/f.json
// RUN: echo '[{"shape": [2,2], "dtype": "int32", "dist": "ones"}]' > %t/g.json
// RUN: echo '[]' > %t/h.json
// RUN: not rope-run %s --entry f --input-spec %t/missing.json 2>&1 | FileCheck %s --check-prefix=SPEC0
// RUN: not rope-run %s --entry f --input-spec %t/a.json 2>&1 | FileCheck %s --check-prefix=SPEC1
// RUN: not rope-run %s --entry f --input-spec %t/b.json 2>&1 | FileCheck %s --check-prefix=SPEC2
// RUN: not rope-run %s --entry f --input-spec %t/c.json 2>&1 | FileCheck %s --check-prefix=SPEC3
// RUN: not rope-run %s --entry f --input-spec %t/d.json 2>&1 | FileCheck %s --check-prefix=SPEC4
// RUN: not rope-run %s --entry f --input-spec %t/e.json 2>&1 | FileCheck %s --check-prefix=SPEC5
// RUN: not rope-run %s --entry f --input-spec %t/f.json 2>&1 | FileCheck %s --check-prefix=SPEC6
// RUN: not rope-run %s --entry f --input-spec %t/g.json 2>&1 | FileCheck %s --check-prefix=SPEC7
// RUN: not rope-run %s --entry f --input-spec %t/h.json 2>&1 | FileCheck %s --check-prefix=SPEC8
// SPEC0: rope-run: error: cannot read '{{.*}}missing.json': No such file or directory
// SPEC1: rope-run: error: '{{.*}}a.json': entry 0: expected {"shape", "dtype", "dist", "scale"}
// SPEC2: rope-run: error: '{{.*}}b.json': expected a list
// SPEC3: rope-run: error: '{{.*}}c.json': [2:0, byte=2]: Unexpected EOF
// SPEC4: rope-run: error: '{{.*}}d.json': entry 0: unknown dist 'poisson', expected normal, integers, iota, ones or full
// SPEC5: rope-run: error: '{{.*}}e.json': entry 0: unknown dtype 'float33'
// SPEC6: rope-run: error: '{{.*}}f.json': entry 0: integers need a scale from 1 to 2^32
// SPEC7: rope-run: error: argument 0: expected tensor<?x2xf32>, got i32[2x2]
// SPEC8: rope-run: error: @f takes 1 arguments, got 0 specifications

func.func @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}

func.func @wide(%x: tensor<2xf64>) -> tensor<2xf64> {
  return %x : tensor<2xf64>
}

func.func @odd(%x: tensor<*xf32>) {
  return
}

func.func @two(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  return %x, %x : tensor<2x2xf32>, tensor<2x2xf32>
}
