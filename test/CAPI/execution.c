//===- execution.c - Compile and call a model from C ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Execution.h"
#include "Check.h"

static const char *const kModel =
    "func.func @main(%x: tensor<?x2xf32>, %s: f32)"
    "    -> (tensor<?x2xf32>, f32) {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?x2xf32>\n"
    "  %t = tensor.splat %s[%n] : tensor<?x2xf32>\n"
    "  %0 = arith.mulf %x, %t : tensor<?x2xf32>\n"
    "  return %0, %s : tensor<?x2xf32>, f32\n"
    "}\n"
    "func.func @twice(%m: memref<2xi64>) {\n"
    "  return\n"
    "}\n";

static RopeExecutable compile(const char *text,
                              const RopeCompileOptions *options, char **error) {
  return ropeExecutableCompile(text, strlen(text), "model.mlir", options,
                               error);
}

static void testSignature(RopeExecutable executable) {
  CHECK(ropeExecutableGetNumEntries(executable) == 2);
  CHECK(strcmp(ropeExecutableGetEntryName(executable, 1), "twice") == 0);
  CHECK(ropeExecutableGetNumArgs(executable, 0) == 2);
  CHECK(ropeExecutableGetNumResults(executable, 0) == 2);
  RopeValueSpec arg = ropeExecutableGetArg(executable, 0, 0);
  CHECK(arg.dtype == ROPE_F32 && !arg.isScalar && !arg.isWritable);
  CHECK(arg.rank == 2 && arg.shape[0] < 0 && arg.shape[1] == 2);
  CHECK(strcmp(arg.type, "tensor<?x2xf32>") == 0);
  CHECK(ropeExecutableGetArg(executable, 0, 1).isScalar);
  CHECK(ropeExecutableGetResult(executable, 0, 1).isScalar);
  CHECK(ropeExecutableGetArg(executable, 1, 0).isWritable);
}

/// The results outlive the executable.
static void testCall(RopeExecutable executable) {
  float x[6] = {1, 2, 3, 4, 5, 6}, s = 0.5f;
  int64_t shape[2] = {3, 2};
  RopeBuffer args[2] = {{ROPE_F32, 2, shape, x}, {ROPE_F32, 0, NULL, &s}};
  RopeArray results[2];
  char *error = NULL;
  CHECK(ropeExecutableInvoke(executable, 0, args, 2, results, &error));
  CHECK(error == NULL);
  ropeExecutableDestroy(executable);
  RopeBuffer product = ropeArrayGetBuffer(results[0]);
  CHECK(product.dtype == ROPE_F32 && product.rank == 2);
  CHECK(product.shape[0] == 3 && product.shape[1] == 2);
  for (int i = 0; i < 6; ++i)
    CHECK(((float *)product.data)[i] == 0.5f * x[i]);
  RopeBuffer scale = ropeArrayGetBuffer(results[1]);
  CHECK(scale.rank == 0 && *(float *)scale.data == 0.5f);
  ropeArrayDestroy(results[0]);
  ropeArrayDestroy(results[1]);
}

static void testWrongCalls(RopeExecutable executable) {
  float x[2] = {1, 2};
  int64_t shape[2] = {2, 1};
  RopeBuffer args[2] = {{ROPE_F32, 2, shape, x}, {ROPE_F32, 0, NULL, x}};
  RopeArray results[2];
  char *error = NULL;
  CHECK(!ropeExecutableInvoke(executable, 0, args, 2, results, &error));
  CHECK_MESSAGE(error, "argument 0: expected tensor<?x2xf32>, got f32[2x1]");
  CHECK(!ropeExecutableInvoke(executable, 0, args, 1, results, &error));
  CHECK_MESSAGE(error, "@main takes 2 arguments, got 1");
  args[0].dtype = (RopeDType)99;
  CHECK(!ropeExecutableInvoke(executable, 0, args, 2, results, &error));
  CHECK_MESSAGE(error, "argument 0: unknown element type");
  CHECK(!ropeExecutableInvoke(executable, 0, args, 2, results, NULL));
}

static void testWrongModels(void) {
  char *error = NULL;
  CHECK(compile("func.func @f( {", NULL, &error).ptr == NULL);
  CHECK_MESSAGE(error, "model.mlir:1:14: error: expected non-function type");
  RopeCompileOptions options = ropeCompileOptionsGetDefault();
  CHECK(options.optLevel <= 3 && !options.portable);
  options.targetCPU = "z80";
  CHECK(compile(kModel, &options, &error).ptr == NULL);
  CHECK_MESSAGE(error, "unknown target CPU 'z80'");
}

int main(void) {
  char *error = NULL;
  RopeExecutable executable = compile(kModel, NULL, &error);
  CHECK(executable.ptr != NULL);
  testSignature(executable);
  testWrongCalls(executable);
  testCall(executable);
  testWrongModels();
  return 0;
}
