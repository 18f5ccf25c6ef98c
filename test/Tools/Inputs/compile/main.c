#include "model.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float x[4] = {1, 2, 3, 4};
  rope_memref_f32_2 argument = {x, x, 0, {2, 2}, {2, 1}}, result;
  _mlir_ciface_main(&result, &argument);
  printf("main:");
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      printf(" %g", result.aligned[result.offset + i * result.strides[0] +
                                   j * result.strides[1]]);
  free(result.allocated);

  double m[2] = {1, 2};
  int8_t b[2] = {0, 0};
  rope_memref_f64_1 memory = {m, m, 0, {2}, {1}};
  rope_memref_i8_1 bytes = {b, b, 0, {2}, {1}};
  _mlir_ciface_several_results results;
  _mlir_ciface_several(&results, 3, &memory, &bytes);
  printf("\nseveral: %g %g scale %g count %d product %g %g\n",
         results.result0.aligned[0], results.result0.aligned[1],
         results.result1, (int)results.result2, results.result3.re,
         results.result3.im);
  free(results.result0.allocated);

  printf("odd: %g\n", _mlir_ciface_odd_name(2.5));
  return 0;
}
