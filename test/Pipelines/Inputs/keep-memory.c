// Calls the function of keep-memory.mlir and counts what it allocates.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t);
void __real_free(void *);

static int watching, allocated, freed;

void *__wrap_malloc(size_t size) {
  allocated += watching;
  return __real_malloc(size);
}

void __wrap_free(void *block) {
  freed += watching && block;
  __real_free(block);
}

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size[2], stride[2];
} Matrix;

void _mlir_ciface_sum(Matrix *, Matrix *);

// Runs after what the compiler emits.
__attribute__((destructor(101))) static void atExit(void) {
  printf("at exit: %d freed\n", freed);
}

int main(void) {
  static float x[256], y[256];
  for (int i = 0; i < 256; ++i)
    x[i] = 0.125;
  for (int i = 0; i < 2; ++i) {
    Matrix in = {x, x, 0, {16, 16}, {16, 1}},
           out = {y, y, 0, {16, 16}, {16, 1}};
    watching = 1;
    _mlir_ciface_sum(&in, &out);
    printf("%g ", y[17]);
    watching = 0;
    printf("%d allocated, %d freed\n", allocated, freed);
  }
  watching = 1;
  return 0;
}
