//===- Progress.h - A sign of life during long work ----------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_TOOLS_PROGRESS_H
#define ROPE_LIB_TOOLS_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mlir::rope {

/// While it lives, prints on stderr what is being done: nothing for the first
/// two seconds, then a line at growing intervals.
class Progress {
public:
  /// `tool` begins each line.
  explicit Progress(llvm::StringRef tool);
  ~Progress();

  /// Names the step that starts now, such as "lowering".
  void start(llvm::StringRef step);

private:
  void watch();

  std::string tool, step;
  std::chrono::steady_clock::time_point began;
  std::mutex mutex;
  std::condition_variable stop;
  bool isDone = false;
  std::thread watcher;
};

} // namespace mlir::rope

#endif // ROPE_LIB_TOOLS_PROGRESS_H
