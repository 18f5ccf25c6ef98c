// RUN: rope-opt --rope-fuse --split-input-file %s | FileCheck %s

// The op takes no f8: the cast of the keys stays.
// CHECK-LABEL: @f8_keys
// CHECK: %[[K:.*]] = arith.extf %arg1 : tensor<5x8xf8E4M3FN> to tensor<5x8xf32>
// CHECK: rope.attention ins(%arg0, %[[K]], %arg2 : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>)
func.func @f8_keys(%q: tensor<3x8xf32>, %k8: tensor<5x8xf8E4M3FN>, %v: tensor<5x8xf32>) -> tensor<3x8xf32> {
  %k = arith.extf %k8 : tensor<5x8xf8E4M3FN> to tensor<5x8xf32>
  %e = tensor.empty() : tensor<3x8xf32>
  %o = rope.attention ins(%q, %k, %v : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) outs(%e : tensor<3x8xf32>) scale 0.25 layout <query = "md", key = "nd", value = "ne", output = "me"> -> tensor<3x8xf32>
  return %o : tensor<3x8xf32>
}

// -----

// Nor tf32, in a body.
// CHECK-LABEL: @tf32_keys
// CHECK: %[[K:.*]] = linalg.generic
// CHECK: rope.attention ins(%arg0, %[[K]], %arg2 : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>)
#id = affine_map<(n, d) -> (n, d)>
func.func @tf32_keys(%q: tensor<3x8xf32>, %k19: tensor<5x8xtf32>, %v: tensor<5x8xf32>) -> tensor<3x8xf32> {
  %ke = tensor.empty() : tensor<5x8xf32>
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%k19 : tensor<5x8xtf32>) outs(%ke : tensor<5x8xf32>) {
  ^bb0(%a: tf32, %o: f32):
    %x = arith.extf %a : tf32 to f32
    linalg.yield %x : f32
  } -> tensor<5x8xf32>
  %e = tensor.empty() : tensor<3x8xf32>
  %o = rope.attention ins(%q, %k, %v : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) outs(%e : tensor<3x8xf32>) scale 0.25 layout <query = "md", key = "nd", value = "ne", output = "me"> -> tensor<3x8xf32>
  return %o : tensor<3x8xf32>
}

// -----

// The output is rounded to f8 by the model's own op.
// CHECK-LABEL: @f8_output
// CHECK: %[[O:.*]] = rope.attention {{.*}} -> tensor<3x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[O]] : tensor<3x8xf32>) outs(%{{.*}} : tensor<3x8xf8E4M3FN>)
#id = affine_map<(n, d) -> (n, d)>
func.func @f8_output(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>) -> tensor<3x8xf8E4M3FN> {
  %e = tensor.empty() : tensor<3x8xf32>
  %o = rope.attention ins(%q, %k, %v : tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) outs(%e : tensor<3x8xf32>) scale 0.25 layout <query = "md", key = "nd", value = "ne", output = "me"> -> tensor<3x8xf32>
  %ne = tensor.empty() : tensor<3x8xf8E4M3FN>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%o : tensor<3x8xf32>) outs(%ne : tensor<3x8xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f8E4M3FN):
    %x = arith.truncf %a : f32 to f8E4M3FN
    linalg.yield %x : f8E4M3FN
  } -> tensor<3x8xf8E4M3FN>
  return %n : tensor<3x8xf8E4M3FN>
}
