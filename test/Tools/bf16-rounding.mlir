// Libraries of code for processors without bf16 bring the rounding along that
// LLVM calls there.

// REQUIRES: x86_64
// RUN: rope-compile %s --target-cpu=x86-64-v3 -o %t.so
// RUN: llvm-nm -D --undefined-only %t.so | FileCheck %s --implicit-check-not=truncsf --allow-empty

func.func @select(%x: tensor<?xbf16>, %c: tensor<?xi1>, %s: bf16) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xbf16>
  %e = tensor.empty(%d) : tensor<?xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %c : tensor<?xbf16>, tensor<?xi1>) outs(%e : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: i1, %o: bf16):
    %y = arith.select %b, %a, %s : bf16
    linalg.yield %y : bf16
  } -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

func.func @mask(%q: tensor<1x1x4x16xf32>, %k: tensor<1x1x?x16xf32>, %m: tensor<?xbf16>) -> tensor<1x1x4x16xf32> {
  %e = tensor.empty() : tensor<1x1x4x16xf32>
  %o = rope.attention ins(%q, %k, %k : tensor<1x1x4x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>) mask(%m : tensor<?xbf16>) outs(%e : tensor<1x1x4x16xf32>) scale 0.25 -> tensor<1x1x4x16xf32>
  return %o : tensor<1x1x4x16xf32>
}
