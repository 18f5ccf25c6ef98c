/* Compiles a model at run time and calls it, from C. */
#include <rope-c/Execution.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char *text = "func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
                     "  %0 = arith.addf %x, %x : tensor<?xf32>\n"
                     "  return %0 : tensor<?xf32>\n"
                     "}\n";
  char *error = NULL;
  RopeExecutable model =
      ropeExecutableCompile(text, strlen(text), "double", NULL, &error);
  if (!model.ptr) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  float x[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  RopeBuffer argument = {ROPE_F32, 1, shape, x};
  RopeArray result;
  if (!ropeExecutableInvoke(model, 0, &argument, 1, &result, &error)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  const float *y = ropeArrayGetBuffer(result).data;
  printf("%g %g %g\n", y[0], y[1], y[2]);
  int isRight = y[0] == 2 && y[1] == 4 && y[2] == 6;
  ropeArrayDestroy(result);
  ropeExecutableDestroy(model);
  return isRight ? 0 : 1;
}
