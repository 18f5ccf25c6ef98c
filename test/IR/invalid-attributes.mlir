// RUN: rope-opt %s --split-input-file --verify-diagnostics

// Each constraint of each attribute, named after it; and malformed text.

// expected-error @+1 {{expected 'half' or 'interleaved', got 'quarter'}}
func.func private @rotary_pairing() attributes {a = #rope.rotary<quarter along []>}

// -----

// expected-error @+1 {{expected 'half' or 'interleaved', got 'quarter'}}
func.func private @rotary_write_pairing() attributes {a = #rope.rotary<half to quarter along []>}

// -----

// expected-error @+1 {{expected 'along'}}
func.func private @rotary_no_along() attributes {a = #rope.rotary<half>}

// -----

// expected-error @+1 {{expected integer value}}
func.func private @rotary_along_not_integer() attributes {a = #rope.rotary<half along [m]>}

// -----

// expected-error @+1 {{integer value too large}}
func.func private @rotary_along_too_large() attributes {a = #rope.rotary<half along [99999999999999999999]>}

// -----

// expected-error @+1 {{expected 'false'}}
func.func private @rotary_full() attributes {a = #rope.rotary<half along [] full = maybe>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @rotary_unknown_field() attributes {a = #rope.rotary<half along [] width = 3>}

// -----

// expected-error @+1 {{offset must not be negative, got -1}}
func.func private @rotary_offset() attributes {a = #rope.rotary<half offset = -1 along []>}

// -----

// expected-error @+1 {{distance must be positive, got 0}}
func.func private @rotary_distance() attributes {a = #rope.rotary<half distance = 0 along []>}

// -----

// expected-error @+1 {{interleaved pairs have no distance}}
func.func private @rotary_interleaved_distance() attributes {a = #rope.rotary<interleaved distance = 4 along []>}

// -----

// expected-error @+1 {{along must list distinct dims, got [-1]}}
func.func private @rotary_c4_negative() attributes {a = #rope.rotary<half along [-1]>}

// -----

// expected-error @+1 {{along must list distinct dims, got [1, 1]}}
func.func private @rotary_c4_repeated() attributes {a = #rope.rotary<half along [1, 1]>}

// -----

// expected-error @+2 {{invalid kind of attribute specified}}
// expected-error @+1 {{failed to parse Rope_LayoutAttr parameter 'query'}}
func.func private @layout_not_string() attributes {a = #rope.layout<query = 5>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: queries}}
func.func private @layout_unknown_role() attributes {a = #rope.layout<queries = "md">}

// -----

// expected-error @+1 {{layout of query 'mx' is not a sequence of distinct letters of bhgmnde, 1 and (hg)}}
func.func private @layout_c1_letter() attributes {a = #rope.layout<query = "mx">}

// -----

// expected-error @+1 {{layout of query '(gh)md' is not a sequence of distinct letters}}
func.func private @layout_c1_group() attributes {a = #rope.layout<query = "(gh)md">}

// -----

// expected-error @+1 {{layout of query '(h' is not a sequence of distinct letters}}
func.func private @layout_c1_open_group() attributes {a = #rope.layout<query = "(h">}

// -----

// expected-error @+1 {{layout of query 'b(hg)hmd' is not a sequence of distinct letters}}
func.func private @layout_c1_repeated() attributes {a = #rope.layout<query = "b(hg)hmd">}

// -----

// expected-error @+1 {{layout of query 'bnd' cannot have n}}
func.func private @layout_c1_wrong_role() attributes {a = #rope.layout<query = "bnd">}

// -----

// expected-error @+1 {{layout of key 'b(hg)nd' cannot have g}}
func.func private @layout_c1_query_head_of_keys() attributes {a = #rope.layout<key = "b(hg)nd">}

// -----

// expected-error @+1 {{layout of query '' lacks d}}
func.func private @layout_c2_query() attributes {a = #rope.layout<query = "">}

// -----

// expected-error @+1 {{layout of key 'bhd' lacks n}}
func.func private @layout_c2_key() attributes {a = #rope.layout<key = "bhd">}

// -----

// expected-error @+1 {{layout of output 'bhm' lacks e}}
func.func private @layout_c2_output() attributes {a = #rope.layout<output = "bhm">}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @default_missing() attributes {a = #rope.default}

// -----

// expected-error @+2 {{invalid kind of attribute specified}}
// expected-error @+1 {{failed to parse Rope_DefaultAttr parameter 'theta'}}
func.func private @default_integer() attributes {a = #rope.default<10000>}

// -----

// expected-error @+1 {{theta must be an f64}}
func.func private @default_f32() attributes {a = #rope.default<1.0e4 : f32>}

// -----

// expected-error @+1 {{theta must be over 1}}
func.func private @default_one() attributes {a = #rope.default<1.0>}

// -----

// expected-error @+1 {{theta must be positive and a normal f64, got -1.000000e+04}}
func.func private @default_negative() attributes {a = #rope.default<-1.0e4>}

// -----

// expected-error @+1 {{theta must be positive and a normal f64, got INF}}
func.func private @default_inf() attributes {a = #rope.default<0x7FF0000000000000 : f64>}

// -----

// expected-error @+1 {{theta must be positive and a normal f64, got nan}}
func.func private @default_nan() attributes {a = #rope.default<0x7FF8000000000000 : f64>}

// -----

// expected-error @+1 {{unknown attribute `nope` in dialect `rope`}}
func.func private @unknown_schedule() attributes {a = #rope.nope<1.0>}

// -----

// expected-error @+1 {{expected ','}}
func.func private @linear_missing() attributes {a = #rope.linear<theta = 1.0e4>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @linear_unknown() attributes {a = #rope.linear<theta = 1.0e4, factor = 2.0, base = 1.0>}

// -----

// expected-error @+1 {{factor must be positive and a normal f64, got 0.0}}
func.func private @linear_factor() attributes {a = #rope.linear<theta = 1.0e4, factor = 0.0>}

// -----

// Its reciprocal would be infinite.
// expected-error @+1 {{factor must be positive and a normal f64}}
func.func private @linear_subnormal() attributes {a = #rope.linear<theta = 1.0e4, factor = 1.0e-310>}

// -----

// expected-error @+1 {{factor must be positive and a normal f64, got -1.0}}
func.func private @ntk_factor() attributes {a = #rope.ntk<theta = 1.0e4, factor = -1.0>}

// -----

// expected-error @+1 {{trained must be positive and at most 2^53, got 0}}
func.func private @dynamic_ntk_zero() attributes {a = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 0>}

// -----

// expected-error @+1 {{trained must be positive and at most 2^53, got 9007199254740993}}
func.func private @dynamic_ntk_bound() attributes {a = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 9007199254740993>}

// -----

// expected-error @+1 {{trained must be positive and at most 2^53, got 9223372036854775807}}
func.func private @dynamic_ntk_large() attributes {a = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 9223372036854775807>}

// -----

// expected-error @+2 {{integer value too large}}
// expected-error @+1 {{failed to parse Rope_DynamicNTKAttr parameter 'trained'}}
func.func private @dynamic_ntk_too_large() attributes {a = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 99999999999999999999>}

// -----

// expected-error @+2 {{expected integer value}}
// expected-error @+1 {{failed to parse Rope_DynamicNTKAttr parameter 'trained'}}
func.func private @dynamic_ntk_fraction() attributes {a = #rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 2.5>}

// -----

// expected-error @+1 {{mscale and mscale_all_dim go together}}
func.func private @yarn_mscale() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, mscale = 1.0>}

// -----

// expected-error @+1 {{beta_fast must be positive and a normal f64, got -1.0}}
func.func private @yarn_beta() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, beta_fast = -1.0>}

// -----

// expected-error @+1 {{beta_slow must be an f64}}
func.func private @yarn_beta_slow() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, beta_slow = 1.0 : f32>}

// -----

// expected-error @+1 {{beta_fast is out of range}}
func.func private @yarn_beta_range() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, beta_fast = 1.0e-307>}

// -----

// expected-error @+1 {{magnitude must be positive and a normal f64, got 0.0}}
func.func private @yarn_magnitude() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, magnitude = 0.0>}

// -----

// expected-error @+1 {{magnitude must be an f64}}
func.func private @yarn_magnitude_f32() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, magnitude = 1.0 : f32>}

// -----

// expected-error @+1 {{mscale must be an f64}}
func.func private @yarn_mscale_f32() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, mscale = 1.0 : f32, mscale_all_dim = 1.0>}

// -----

// expected-error @+1 {{mscale_all_dim must be an f64}}
func.func private @yarn_mscale_all_dim_f32() attributes {a = #rope.yarn<theta = 1.0e4, factor = 4.0, trained = 4096, mscale = 1.0, mscale_all_dim = 1.0 : f32>}

// -----

// The quotient of two infinite numbers.
// expected-error @+1 {{magnitude must be positive and a normal f64, got nan}}
func.func private @yarn_magnitude_range() attributes {a = #rope.yarn<theta = 1.0e4, factor = 1.0e300, trained = 4096, mscale = 1.0e308, mscale_all_dim = 1.0e308>}

// -----

// expected-error @+1 {{low must be less than high}}
func.func private @llama3_order() attributes {a = #rope.llama3<theta = 1.0e4, factor = 8.0, low = 4.0, high = 1.0, trained = 8192>}

// -----

// expected-error @+1 {{low must be less than high}}
func.func private @llama3_equal() attributes {a = #rope.llama3<theta = 1.0e4, factor = 8.0, low = 4.0, high = 4.0, trained = 8192>}

// -----

// expected-error @+1 {{high must be positive and a normal f64, got INF}}
func.func private @llama3_high() attributes {a = #rope.llama3<theta = 1.0e4, factor = 8.0, low = 1.0, high = 0x7FF0000000000000 : f64, trained = 8192>}

// -----

// expected-error @+1 {{low must be positive and a normal f64, got 0.0}}
func.func private @llama3_low() attributes {a = #rope.llama3<theta = 1.0e4, factor = 8.0, low = 0.0, high = 4.0, trained = 8192>}

// -----

// expected-error @+1 {{factors must be positive and a normal f64, got 0.0}}
func.func private @longrope_zero() attributes {a = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 0.0], long_factors = [1.0, 1.0], trained = 4096>}

// -----

// expected-error @+1 {{factors must be positive and a normal f64, got -1.0}}
func.func private @longrope_long() attributes {a = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, -1.0], trained = 4096>}

// -----

// expected-error @+1 {{theta must be over 1}}
func.func private @longrope_theta() attributes {a = #rope.longrope<theta = 1.0, short_factors = [1.0, 1.0], long_factors = [1.0, 1.0], trained = 4096>}

// -----

// expected-error @+1 {{trained must be positive and at most 2^53, got 0}}
func.func private @longrope_trained() attributes {a = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 1.0], trained = 0>}

// -----

// expected-error @+1 {{magnitude must be positive and a normal f64, got 0.0}}
func.func private @longrope_magnitude() attributes {a = #rope.longrope<theta = 1.0e4, short_factors = [1.0, 1.0], long_factors = [1.0, 1.0], trained = 4096, magnitude = 0.0>}

// -----

// expected-error @+2 {{expected '['}}
// expected-error @+1 {{failed to parse Rope_LongRopeAttr parameter 'short_factors'}}
func.func private @longrope_not_list() attributes {a = #rope.longrope<theta = 1.0e4, short_factors = 1.0, long_factors = [1.0, 1.0], trained = 4096>}

// -----

// expected-error @+1 {{share must be at most 1}}
func.func private @proportional_share() attributes {a = #rope.proportional<theta = 1.0e4, share = 1.5>}

// -----

// expected-error @+1 {{theta must be over 1}}
func.func private @proportional_theta() attributes {a = #rope.proportional<theta = 1.0, share = 0.5>}

// -----

// expected-error @+1 {{share must be positive and a normal f64, got 0.0}}
func.func private @proportional_zero() attributes {a = #rope.proportional<theta = 1.0e4, share = 0.0>}

// -----

// expected-error @+1 {{frequencies must be finite}}
func.func private @explicit_inf() attributes {a = #rope.explicit<frequencies = [1.0, 0x7FF0000000000000]>}

// -----

// expected-error @+1 {{magnitude must be positive and a normal f64, got -1.0}}
func.func private @explicit_magnitude() attributes {a = #rope.explicit<frequencies = [1.0], magnitude = -1.0>}

// -----

// expected-error @+1 {{'func.func' op has unknown attribute "rope.wait" = unit on argument 0}}
func.func @argument(%w: tensor<4x4xf32> {rope.wait}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has unknown attribute "rope.weight" = 1 : i64 on argument 0}}
func.func @weight(%w: tensor<4x4xf32> {rope.weight = 1}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has unknown attribute "rope.weight" on result 0}}
func.func @result(%w: tensor<4x4xf32>) -> (tensor<4x4xf32> {rope.weight}) {
  return %w : tensor<4x4xf32>
}
