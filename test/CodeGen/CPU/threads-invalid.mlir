// RUN: rope-opt %s --split-input-file --verify-diagnostics --rope-plan --rope-attention-to-vector=threads

// What tells the number of threads is not that of another type.

!Q = memref<32x8xf32>

// expected-note @+1 {{this has its name}}
func.func private @omp_get_max_threads() -> i64
func.func @of_another_type(%q: !Q, %o: !Q) {
  // expected-error @+1 {{'rope.attention' op wants @omp_get_max_threads to be a declared function of type '() -> i32'}}
  rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  return
}

// -----

!Q = memref<32x8xf32>

// expected-note @+1 {{this has its name}}
func.func private @omp_get_max_threads() -> i32 {
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}
func.func @with_a_body(%q: !Q, %o: !Q) {
  // expected-error @+1 {{'rope.attention' op wants @omp_get_max_threads to be a declared function}}
  rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  return
}

// -----

!Q = memref<32x8xf32>

// The same declaration is the one that is wanted.
func.func private @omp_get_max_threads() -> i32
func.func @declared(%q: !Q, %o: !Q) {
  rope.attention ins(%q, %q, %q : !Q, !Q, !Q) outs(%o : !Q) scale 0.5
  return
}
