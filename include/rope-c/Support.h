//===- rope-c/Support.h - Arrays, errors and visibility --------- -*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of the C API share. Nothing here needs MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_C_SUPPORT_H
#define ROPE_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define ROPE_CAPI_EXPORTED __attribute__((visibility("default")))
#else
#define ROPE_CAPI_EXPORTED
#endif

/// What C puts into an enumeration may be any number, which is then an error;
/// C++ wants to be told.
#ifdef __cplusplus
#define ROPE_CAPI_INT : int
#else
#define ROPE_CAPI_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Element types. f16 and bf16 are given as their bits, bool as a byte 0 or 1,
/// complex numbers as (real, imaginary).
typedef enum RopeDType ROPE_CAPI_INT {
  ROPE_F16,
  ROPE_BF16,
  ROPE_F32,
  ROPE_F64,
  ROPE_BOOL,
  ROPE_I8,
  ROPE_I16,
  ROPE_I32,
  ROPE_I64,
  ROPE_U8,
  ROPE_U16,
  ROPE_U32,
  ROPE_U64,
  ROPE_COMPLEX64,
  ROPE_COMPLEX128
} RopeDType;

/// A row-major, dense array in memory that belongs to somebody else. `shape`
/// has `rank` sizes.
typedef struct RopeBuffer {
  RopeDType dtype;
  int64_t rank;
  const int64_t *shape;
  void *data;
} RopeBuffer;

/// An array that owns its memory.
typedef struct RopeArray {
  void *ptr;
} RopeArray;

/// The memory of an array. Valid until the array is destroyed.
ROPE_CAPI_EXPORTED RopeBuffer ropeArrayGetBuffer(RopeArray array);

/// Frees an array. Null is fine.
ROPE_CAPI_EXPORTED void ropeArrayDestroy(RopeArray array);

/// Frees an error message. Null is fine.
ROPE_CAPI_EXPORTED void ropeStringDestroy(char *string);

#ifdef __cplusplus
}
#endif

#endif // ROPE_C_SUPPORT_H
