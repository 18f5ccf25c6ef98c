//===- reference.c - Evaluate ops in f64 from C ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Reference.h"
#include "Check.h"
#include <math.h>

static void testFrequencies(void) {
  char *error = NULL;
  double magnitude = 0;
  RopeArray array = ropeGetFrequencies(
      "#rope.linear<theta = 1.0e4, factor = 4.0>", 2, -1, &magnitude, &error);
  CHECK(array.ptr != NULL && magnitude == 1);
  RopeBuffer buffer = ropeArrayGetBuffer(array);
  CHECK(buffer.dtype == ROPE_F64 && buffer.rank == 1 && buffer.shape[0] == 2);
  CHECK(((double *)buffer.data)[0] == 0.25);
  CHECK(fabs(((double *)buffer.data)[1] - 0.0025) < 1e-15);
  ropeArrayDestroy(array);

  CHECK(!ropeGetFrequencies("#rope.linear<theta = 1.0e4>", 2, -1, &magnitude,
                            &error)
             .ptr);
  CHECK_MESSAGE(error, "expected ','");
  CHECK(!ropeGetFrequencies("42 : i32", 2, -1, &magnitude, &error).ptr);
  CHECK_MESSAGE(error, "no schedule of frequencies");
  const char *dynamic =
      "#rope.dynamic_ntk<theta = 1.0e4, factor = 2.0, trained = 16>";
  CHECK(!ropeGetFrequencies(dynamic, 2, -1, &magnitude, &error).ptr);
  CHECK_MESSAGE(error, "depends on the length");
  CHECK(!ropeGetFrequencies(dynamic, 0, 16, &magnitude, &error).ptr);
  CHECK_MESSAGE(error, "expected 1 to");
  array = ropeGetFrequencies(dynamic, 2, 64, &magnitude, &error);
  CHECK(array.ptr != NULL);
  ropeArrayDestroy(array);
}

/// A quarter turn of (1, 2): (u, v) → (−v, u).
static void testRotation(void) {
  char *error = NULL;
  double frequency = acos(-1) / 2, position = 1, x[2] = {1, 2};
  int64_t one = 1, two = 2;
  RopeBuffer positions = {ROPE_F64, 1, &one, &position};
  RopeArray table = ropeReferenceTable(positions, &frequency, 1, 1.0, NULL,
                                       ROPE_ANGLE_EXACT, &error);
  CHECK(table.ptr != NULL);
  int64_t shape[2] = {one, two}, along = 0;
  RopeRotation rotation = {ropeArrayGetBuffer(table),
                           ROPE_PAIRING_HALF,
                           ROPE_PAIRING_HALF,
                           0,
                           -1,
                           &along,
                           1,
                           false};
  RopeBuffer input = {ROPE_F64, 2, shape, x};
  RopeArray turned = ropeReferenceRotate(input, &rotation, false, &error);
  double *y = ropeArrayGetBuffer(turned).data;
  CHECK(fabs(y[0] + 2) < 1e-15 && fabs(y[1] - 1) < 1e-15);
  RopeArray back =
      ropeReferenceRotate(ropeArrayGetBuffer(turned), &rotation, true, &error);
  y = ropeArrayGetBuffer(back).data;
  CHECK(fabs(y[0] - 1) < 1e-15 && fabs(y[1] - 2) < 1e-15);
  rotation.offset = 1;
  CHECK(!ropeReferenceRotate(input, &rotation, false, &error).ptr);
  CHECK(error != NULL);
  ropeStringDestroy(error);
  rotation.write = (RopePairing)2;
  CHECK(!ropeReferenceRotate(input, &rotation, false, &error).ptr);
  CHECK_MESSAGE(error, "unknown pairing 2");
  rotation.read = (RopePairing)-1;
  CHECK(!ropeReferenceRotate(input, &rotation, false, &error).ptr);
  CHECK_MESSAGE(error, "unknown pairing -1");
  CHECK(!ropeReferenceTable(positions, &frequency, 1, 1.0, NULL,
                            (RopeAngleMode)3, &error)
             .ptr);
  CHECK_MESSAGE(error, "unknown angle mode 3");
  ropeArrayDestroy(back);
  ropeArrayDestroy(turned);
  ropeArrayDestroy(table);
}

/// Two keys of equal score: the mean of the values. A mask hides one of them.
static void testAttention(void) {
  char *error = NULL;
  double query = 0, key[2] = {1, 2}, value[2] = {3, 5};
  int64_t queryShape[5] = {1, 1, 1, 1, 1}, keyShape[4] = {1, 1, 2, 1},
          maskShape[5] = {1, 1, 1, 1, 2};
  uint8_t visible[2] = {1, 0};
  RopeBuffer mask = {ROPE_BOOL, 5, maskShape, visible};
  RopeAttentionInputs inputs = {0};
  inputs.query = (RopeBuffer){ROPE_F64, 5, queryShape, &query};
  inputs.key = (RopeBuffer){ROPE_F64, 4, keyShape, key};
  inputs.value = (RopeBuffer){ROPE_F64, 4, keyShape, value};
  inputs.scale = 1;
  inputs.windowLeft = inputs.windowRight = -1;
  RopeArray output, lse;
  CHECK(ropeReferenceAttention(&inputs, &output, &lse, &error));
  CHECK(*(double *)ropeArrayGetBuffer(output).data == 4);
  CHECK(fabs(*(double *)ropeArrayGetBuffer(lse).data - log(2)) < 1e-15);
  ropeArrayDestroy(output);
  ropeArrayDestroy(lse);
  inputs.mask = &mask;
  CHECK(ropeReferenceAttention(&inputs, &output, &lse, &error));
  CHECK(*(double *)ropeArrayGetBuffer(output).data == 3);
  ropeArrayDestroy(output);
  ropeArrayDestroy(lse);
  inputs.query.dtype = ROPE_F32;
  CHECK(!ropeReferenceAttention(&inputs, &output, &lse, &error));
  CHECK_MESSAGE(error, "query must be an array of f64");
}

static void testLinearAttention(void) {
  char *error = NULL;
  double one = 1;
  int64_t shape[5] = {1, 1, 1, 1, 1};
  RopeLinearAttentionInputs inputs = {0};
  inputs.query = (RopeBuffer){ROPE_F64, 5, shape, &one};
  inputs.key = inputs.value = (RopeBuffer){ROPE_F64, 4, shape, &one};
  inputs.featureMap = ROPE_FEATURE_EXP;
  RopeArray output, kvState, kSum;
  CHECK(
      ropeReferenceLinearAttention(&inputs, &output, &kvState, &kSum, &error));
  CHECK(fabs(*(double *)ropeArrayGetBuffer(kSum).data - exp(1)) < 1e-15);
  ropeArrayDestroy(output);
  ropeArrayDestroy(kvState);
  ropeArrayDestroy(kSum);
  inputs.featureMap = (RopeFeatureMap)4;
  CHECK(
      !ropeReferenceLinearAttention(&inputs, &output, &kvState, &kSum, &error));
  CHECK_MESSAGE(error, "unknown feature map 4");
}

int main(void) {
  testFrequencies();
  testRotation();
  testAttention();
  testLinearAttention();
  return 0;
}
