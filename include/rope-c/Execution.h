//===- rope-c/Execution.h - Compile and call models ------------- -*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the text of a model in this process and calls its entries on
// buffers. Functions that can fail take `char **error`: where they fail, it
// receives a message that the caller frees by ropeStringDestroy; otherwise it
// is left alone.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_C_EXECUTION_H
#define ROPE_C_EXECUTION_H

#include "rope-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled model.
typedef struct RopeExecutable {
  void *ptr;
} RopeExecutable;

/// How to compile. Null strings stand for the default.
typedef struct RopeCompileOptions {
  /// A processor as LLVM names it; default `native`.
  const char *targetCPU;
  /// More features in LLVM's syntax: `+avx2,-fma`.
  const char *targetFeatures;
  /// More options of rope-cpu-pipeline, as in a textual pipeline.
  const char *pipelineOptions;
  /// LLVM's optimization level, 0 to 3.
  uint32_t optLevel;
  /// Lower plainly, by upstream loops: the yardstick of optimised code.
  bool portable;
} RopeCompileOptions;

/// One argument or result. Valid while the executable lives.
typedef struct RopeValueSpec {
  RopeDType dtype;
  /// Whether it is a number instead of an array.
  bool isScalar;
  /// Whether a call may change the caller's memory.
  bool isWritable;
  int64_t rank;
  /// The sizes, negative where any size will do.
  const int64_t *shape;
  /// The type as MLIR prints it.
  const char *type;
} RopeValueSpec;

/// The options that apply when nobody says otherwise.
ROPE_CAPI_EXPORTED RopeCompileOptions ropeCompileOptionsGetDefault(void);

/// Compiles `length` bytes of MLIR. `name` stands for the text in messages. On
/// failure the result is null and `error` holds all diagnostics.
ROPE_CAPI_EXPORTED RopeExecutable
ropeExecutableCompile(const char *text, size_t length, const char *name,
                      const RopeCompileOptions *options, char **error);

/// Frees an executable. Arrays that its entries returned live on.
ROPE_CAPI_EXPORTED void ropeExecutableDestroy(RopeExecutable executable);

/// The number of entries: public functions with a body.
ROPE_CAPI_EXPORTED size_t
ropeExecutableGetNumEntries(RopeExecutable executable);

/// The name of an entry, valid while the executable lives.
ROPE_CAPI_EXPORTED const char *
ropeExecutableGetEntryName(RopeExecutable executable, size_t entry);

ROPE_CAPI_EXPORTED size_t ropeExecutableGetNumArgs(RopeExecutable executable,
                                                   size_t entry);
ROPE_CAPI_EXPORTED RopeValueSpec ropeExecutableGetArg(RopeExecutable executable,
                                                      size_t entry,
                                                      size_t index);
ROPE_CAPI_EXPORTED size_t ropeExecutableGetNumResults(RopeExecutable executable,
                                                      size_t entry);
ROPE_CAPI_EXPORTED RopeValueSpec
ropeExecutableGetResult(RopeExecutable executable, size_t entry, size_t index);

/// Calls an entry. Numbers are passed as buffers of one element. The number,
/// types and shapes of `args` are checked. On success `results` receives
/// ropeExecutableGetNumResults arrays, which the caller destroys. Calls of one
/// executable may run at the same time.
ROPE_CAPI_EXPORTED bool ropeExecutableInvoke(RopeExecutable executable,
                                             size_t entry,
                                             const RopeBuffer *args,
                                             size_t numArgs, RopeArray *results,
                                             char **error);

#ifdef __cplusplus
}
#endif

#endif // ROPE_C_EXECUTION_H
