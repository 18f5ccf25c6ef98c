//===- Threads.h - Programs on several threads -----------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_TEST_UNIT_SUPPORT_THREADS_H
#define ROPE_TEST_UNIT_SUPPORT_THREADS_H

namespace mlir::rope::test {

/// Numbers of threads: one, divisors of little, and more than there is work
/// for.
inline constexpr int kThreadCounts[] = {1, 2, 3, 7, 8};

/// Sets how many threads programs use. What is compiled with threads has
/// brought their runtime into this process before.
void setThreads(int count);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_THREADS_H
