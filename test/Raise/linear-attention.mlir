// RUN: rope-opt --rope-raise --split-input-file %s | FileCheck %s
// RUN: rope-opt --rope-explain --split-input-file %s 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: remark: linear attention{{$}}
// EXPLAIN: remark: raised {{.*}}, 1 linear attention
// EXPLAIN: remark: no linear attention: its mask is not causal

// The state first, a divisor with an addend, and elu + 1 as a choice.
// CHECK-LABEL: @state_first
// CHECK: rope.linear_attention ins(%arg0, %arg1, %arg2 :
// CHECK-SAME: feature_map elu_plus_one normalizer_eps 9.99999997{{[0-9]*}}E-7 layout <query = "md", key = "nd", value = "ne", output = "me">
// CHECK-NOT: linalg
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>
func.func @state_first(%q: tensor<8x16xf32>, %k: tensor<24x16xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %eq = tensor.empty() : tensor<8x16xf32>
  %fq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x16xf32>) outs(%eq : tensor<8x16xf32>) {
    ^bb0(%x: f32, %o: f32):
      %p = arith.cmpf ogt, %x, %zero : f32
      %a = arith.addf %x, %one : f32
      %b = math.exp %x : f32
      %y = arith.select %p, %a, %b : f32
      linalg.yield %y : f32
  } -> tensor<8x16xf32>
  %ek = tensor.empty() : tensor<24x16xf32>
  %fk = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<24x16xf32>) outs(%ek : tensor<24x16xf32>) {
    ^bb0(%x: f32, %o: f32):
      %p = arith.cmpf ole, %x, %zero : f32
      %b = math.expm1 %x : f32
      %y = arith.select %p, %b, %x : f32
      %z = arith.addf %y, %one : f32
      linalg.yield %z : f32
  } -> tensor<24x16xf32>
  %es = tensor.empty() : tensor<16x4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4xf32>) -> tensor<16x4xf32>
  %state = linalg.matmul indexing_maps = [affine_map<(d,e,n)->(n,d)>, affine_map<(d,e,n)->(n,e)>, affine_map<(d,e,n)->(d,e)>]
      ins(%fk, %v : tensor<24x16xf32>, tensor<24x4xf32>) outs(%s0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %num = linalg.matmul ins(%fq, %state : tensor<8x16xf32>, tensor<16x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %ez = tensor.empty() : tensor<16xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%ez : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.reduce ins(%fk : tensor<24x16xf32>) outs(%z0 : tensor<16xf32>) dimensions = [0]
    (%in: f32, %o: f32) {
      %y = arith.addf %in, %o : f32
      linalg.yield %y : f32
    }
  %ed = tensor.empty() : tensor<8xf32>
  %d0 = linalg.fill ins(%zero : f32) outs(%ed : tensor<8xf32>) -> tensor<8xf32>
  %den = linalg.matvec ins(%fq, %sum : tensor<8x16xf32>, tensor<16xf32>) outs(%d0 : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%num, %den : tensor<8x4xf32>, tensor<8xf32>) outs(%eo : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.addf %b, %eps : f32
      %y = arith.divf %a, %c : f32
      linalg.yield %y : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Three matrices in a row are no attention.
// CHECK-LABEL: @three_matrices
// CHECK-NOT: rope.
func.func @three_matrices(%q: tensor<8x16xf32>, %k: tensor<16x24xf32>, %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x24xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<8x16xf32>, tensor<16x24xf32>) outs(%s0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%s, %v : tensor<8x24xf32>, tensor<24x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}

// -----

// Each row sees the keys before it, but not its own.
// CHECK-LABEL: @strictly_lower
// CHECK-NOT: rope.
#id = affine_map<(i, j) -> (i, j)>
func.func @strictly_lower(%q: tensor<8x16xf32>, %k: tensor<8x16xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<8x16xf32>
  %fq = linalg.exp ins(%q : tensor<8x16xf32>) outs(%eq : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fk = linalg.exp ins(%k : tensor<8x16xf32>) outs(%eq : tensor<8x16xf32>) -> tensor<8x16xf32>
  %es = tensor.empty() : tensor<8x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(m,n,d)->(m,d)>, affine_map<(m,n,d)->(n,d)>, affine_map<(m,n,d)->(m,n)>]
      ins(%fq, %fk : tensor<8x16xf32>, tensor<8x16xf32>) outs(%s0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x8xf32>) outs(%es : tensor<8x8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %sees = arith.cmpi slt, %j, %i : index
      %y = arith.select %sees, %x, %zero : f32
      linalg.yield %y : f32
  } -> tensor<8x8xf32>
  %eo = tensor.empty() : tensor<8x4xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<8x8xf32>, tensor<8x4xf32>) outs(%o0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o : tensor<8x4xf32>
}
