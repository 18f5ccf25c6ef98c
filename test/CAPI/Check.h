//===- test/CAPI/Check.h - Checks that stop the program --------- -*- C -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_CAPI_CHECK_H
#define ROPE_TEST_CAPI_CHECK_H

#include "rope-c/Support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__,             \
              #condition);                                                     \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/// Checks that `error` is a message which contains `part`, and frees it.
#define CHECK_MESSAGE(error, part)                                             \
  do {                                                                         \
    CHECK((error) != NULL);                                                    \
    if (!strstr((error), (part))) {                                            \
      fprintf(stderr, "%s:%d: '%s' not in '%s'\n", __FILE__, __LINE__, (part), \
              (error));                                                        \
      exit(1);                                                                 \
    }                                                                          \
    ropeStringDestroy(error);                                                  \
    (error) = NULL;                                                            \
  } while (0)

#endif // ROPE_TEST_CAPI_CHECK_H
