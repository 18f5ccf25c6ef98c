// RUN: rm -rf %t && mkdir %t
// RUN: rope-run %s --entry scale --random 3 --dims 4 --output-dir %t/x --print | FileCheck %s --check-prefix=RANDOM
// RUN: rope-run %s --entry twice %t/x/out0.npy --print | FileCheck %s --check-prefix=TWICE
// RUN: rope-run %s --entry iota --random 1 --shape 0=2x3 --print | FileCheck %s --check-prefix=IOTA
// RUN: rope-run %s --entry bits --random 1 --print | FileCheck %s --check-prefix=BITS
// RUN: rope-run - --entry iota --random 1 --dims 2 < %s | FileCheck %s --check-prefix=STDIN
// RUN: rope-run %s --entry empty --random 1 --dims 0 --print | FileCheck %s --check-prefix=EMPTY

// The numbers are those of numpy.random.Generator(PCG64([3, i])).
// RANDOM: result 0: f32[4] min -2.55567 max 2.04092
// RANDOM-NEXT: 2.04091907 -2.55566502
func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// TWICE: result 0: f32[4]
// TWICE-NEXT: 4.08183813 -5.11133003
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Integers count along the last dimension.
// IOTA: result 0: i64[2x3] min 0 max 2 mean 1
// IOTA-NEXT: {{^}}0 1 2{{$}}
// IOTA-NEXT: {{^}}0 1 2{{$}}
// STDIN: result 0: i64[2x2] min 0 max 1
func.func @iota(%x: tensor<?x?xi64>) -> tensor<?x?xi64> {
  return %x : tensor<?x?xi64>
}

// BITS: result 0: i1[64] min 0 max 1
func.func @bits(%x: tensor<64xi1>) -> tensor<64xi1> {
  return %x : tensor<64xi1>
}

// EMPTY: result 0: bf16[0x2]{{$}}
// EMPTY-NEXT: result 1: complex<f32>[] min 1
// EMPTY-NEXT: 1+2i
func.func @empty(%x: tensor<?x2xbf16>) -> (tensor<?x2xbf16>, tensor<complex<f32>>) {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  return %x, %c : tensor<?x2xbf16>, tensor<complex<f32>>
}
