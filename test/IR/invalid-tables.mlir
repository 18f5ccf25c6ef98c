// RUN: rope-opt %s --split-input-file --verify-diagnostics

// Each constraint of table, assemble and compose, named after it; and malformed text.

func.func @table_c1_rank0(%p: index, %t: tensor<f32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W] with a static, positive W, got 'tensor<f32>'}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @table_c1_planes(%p: index, %t: tensor<?x3x4xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return
}

// -----

func.func @table_c1_dynamic_planes(%p: index, %t: tensor<?x?x4xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

func.func @table_c1_no_pairs(%p: index, %t: tensor<?x2x0xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<?x2x0xf32>) -> tensor<?x2x0xf32>
  return
}

// -----

func.func @table_c1_dynamic_width(%p: index, %t: tensor<?x2x?xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  return
}

// -----

func.func @table_c2_index(%p: index, %t: tensor<2x?x2x4xf32>) {
  // expected-error @+1 {{table of consecutive positions must have one leading dim, got 'tensor<2x?x2x4xf32>'}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32>
  return
}

// -----

func.func @table_c2_index_no_lead(%p: index, %t: tensor<2x4xf32>) {
  // expected-error @+1 {{table of consecutive positions must have one leading dim, got 'tensor<2x4xf32>'}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @table_c2_extent(%p: tensor<3xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{leading dims of table 'tensor<5x2x4xf32>' are not those of positions 'tensor<3xi64>'}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<3xi64>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c2_rank(%p: tensor<3x5xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{leading dims of table 'tensor<5x2x4xf32>' are not those of positions 'tensor<3x5xi64>'}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<3x5xi64>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c3_index(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{axes need positions with a static first dim}}
  rope.table #rope.default<1.0e4> ins(%p : index) axes [0, 0, 0, 0] outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c3_rank0(%p: tensor<i64>, %t: tensor<2x4xf32>) {
  // expected-error @+1 {{axes need positions with a static first dim}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<i64>) axes [0, 0, 0, 0] outs(%t : tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @table_c3_dynamic(%p: tensor<?x5xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{axes need positions with a static first dim}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<?x5xi64>) axes [0, 0, 0, 0] outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c3_count(%p: tensor<3x5xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{axes has 3 entries for 4 pairs}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<3x5xi64>) axes [0, 1, 2] outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c3_range(%p: tensor<3x5xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{axis 3 is not one of the 3 axes of the positions}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<3x5xi64>) axes [0, 1, 2, 3] outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c3_negative(%p: tensor<3x5xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{axis -1 is not one of the 3 axes of the positions}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<3x5xi64>) axes [0, 1, 2, -1] outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c4_ntk(%p: index, %t: tensor<5x2x1xf32>) {
  // expected-error @+1 {{NTK scaling needs more than one pair}}
  rope.table #rope.ntk<theta = 1.0e4, factor = 2.0> ins(%p : index) outs(%t : tensor<5x2x1xf32>) -> tensor<5x2x1xf32>
  return
}

// -----

func.func @table_c4_ntk_theta(%p: index, %t: tensor<5x2x2xf32>) {
  // expected-error @+1 {{theta scaled by the factor is not a normal f64}}
  rope.table #rope.ntk<theta = 1.0e4, factor = 1.0e-200> ins(%p : index) outs(%t : tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  return
}

// -----

func.func @table_c4_pairs(%p: index, %t: tensor<5x2x4611686018427387904xf32>) {
  // expected-error @+1 {{table has 4611686018427387904 pairs, more than the 1048576 that a schedule can serve}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<5x2x4611686018427387904xf32>) -> tensor<5x2x4611686018427387904xf32>
  return
}

// -----

func.func @table_c4_explicit(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{frequencies has 2 entries for 4 pairs}}
  rope.table #rope.explicit<frequencies = [1.0, 0.5]> ins(%p : index) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_c4_longrope(%p: index, %t: tensor<5x2x2xf32>) {
  // expected-error @+1 {{long_factors has 1 entries for 2 pairs}}
  rope.table #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0], trained = 4096> ins(%p : index) length(%p) outs(%t : tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  return
}

// -----

func.func @table_c5_missing(%p: index, %t: tensor<5x2x2xf32>) {
  // expected-error @+1 {{depend on a length, which is missing}}
  rope.table #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2048> ins(%p : index) outs(%t : tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  return
}

// -----

func.func @table_c5_needless(%p: index, %t: tensor<5x2x2xf32>) {
  // expected-error @+1 {{do not depend on a length}}
  rope.table #rope.default<1.0e4> ins(%p : index) length(%p) outs(%t : tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  return
}

// -----

// A set bit would be position -1.
func.func @table_i1_positions(%p: tensor<5xi1>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{operand #0 must be index, or ranked tensor or memref of i8, i16, i32, i64, index or float}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<5xi1>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_wide_positions(%p: tensor<5xi128>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{operand #0 must be index, or ranked tensor or memref of i8, i16, i32, i64, index or float}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<5xi128>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_unranked_positions(%p: tensor<*xi64>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{operand #0 must be index, or ranked tensor or memref}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<*xi64>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_integer_table(%p: index, %t: tensor<5x2x4xi32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or memref of f16, bf16, f32 or f64}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<5x2x4xi32>) -> tensor<5x2x4xi32>
  return
}

// -----

func.func @table_result_type(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{expected type of operand #1 ('tensor<5x2x4xf32>') to match type of corresponding result ('tensor<?x2x4xf32>')}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<5x2x4xf32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @table_no_result(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  rope.table #rope.default<1.0e4> ins(%p : index) outs(%t : tensor<5x2x4xf32>)
  return
}

// -----

func.func @table_mixed(%p: tensor<5xi64>, %t: memref<5x2x4xf32>) {
  // expected-error @+1 {{mixes tensors and memrefs}}
  rope.table #rope.default<1.0e4> ins(%p : tensor<5xi64>) outs(%t : memref<5x2x4xf32>)
  return
}

// -----

func.func @table_not_frequencies(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{invalid kind of attribute specified}}
  rope.table #rope.rotary<half along [0]> ins(%p : index) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @table_angle_mode(%p: index, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{expected 'outs'}}
  rope.table #rope.default<1.0e4> ins(%p : index) f16_angle outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @assemble_c1(%c: tensor<3x4xf32>, %s: tensor<3x4xf32>, %t: tensor<3x4xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.assemble ins(%c, %s : tensor<3x4xf32>, tensor<3x4xf32>) outs(%t : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @assemble_c1_dynamic_width(%c: tensor<3x?xf32>, %s: tensor<3x?xf32>, %t: tensor<3x2x?xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.assemble ins(%c, %s : tensor<3x?xf32>, tensor<3x?xf32>) outs(%t : tensor<3x2x?xf32>) -> tensor<3x2x?xf32>
  return
}

// -----

func.func @assemble_c2_cos(%c: tensor<3x5xf32>, %s: tensor<3x4xf32>, %t: tensor<3x2x4xf32>) {
  // expected-error @+1 {{cos of type 'tensor<3x5xf32>' is not a plane of table 'tensor<3x2x4xf32>'}}
  rope.assemble ins(%c, %s : tensor<3x5xf32>, tensor<3x4xf32>) outs(%t : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  return
}

// -----

func.func @assemble_c2_sin(%c: tensor<3x4xf32>, %s: tensor<4xf32>, %t: tensor<3x2x4xf32>) {
  // expected-error @+1 {{sin of type 'tensor<4xf32>' is not a plane of table 'tensor<3x2x4xf32>'}}
  rope.assemble ins(%c, %s : tensor<3x4xf32>, tensor<4xf32>) outs(%t : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  return
}

// -----

func.func @assemble_integers(%c: tensor<3x4xi32>, %s: tensor<3x4xf32>, %t: tensor<3x2x4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or memref of f16, bf16, f32 or f64}}
  rope.assemble ins(%c, %s : tensor<3x4xi32>, tensor<3x4xf32>) outs(%t : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  return
}

// -----

func.func @compose_c1(%l: tensor<4xf32>, %r: tensor<4xf32>, %t: tensor<4xf32>) {
  // expected-error @+1 {{table must have the shape [lead..., 2, W]}}
  rope.compose ins(%l, inverse %r : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @compose_c2_lhs(%l: tensor<3x2x4xf32>, %r: tensor<5x2x4xf32>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{lhs of type 'tensor<3x2x4xf32>' does not have the shape of table 'tensor<5x2x4xf32>'}}
  rope.compose ins(%l, inverse %r : tensor<3x2x4xf32>, tensor<5x2x4xf32>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----

func.func @compose_c2_rhs(%l: tensor<5x2x4xf32>, %r: tensor<2x4xf32>, %t: tensor<5x2x4xf32>) {
  // expected-error @+1 {{rhs of type 'tensor<2x4xf32>' does not have the shape of table 'tensor<5x2x4xf32>'}}
  rope.compose ins(%l, inverse %r : tensor<5x2x4xf32>, tensor<2x4xf32>) outs(%t : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}
