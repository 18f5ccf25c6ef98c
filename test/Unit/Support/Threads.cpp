//===- Threads.cpp - Programs on several threads --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Threads.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/ErrorHandling.h"

void mlir::rope::test::setThreads(int count) {
  void *function = llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(
      "omp_set_num_threads");
  if (!function)
    llvm::report_fatal_error("nothing brought the runtime of threads");
  reinterpret_cast<void (*)(int)>(function)(count);
}
