//===- Progress.cpp - A sign of life during long work ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir::rope;
using namespace std::chrono;

Progress::Progress(llvm::StringRef tool)
    : tool(tool), began(steady_clock::now()), watcher([this] { watch(); }) {}

Progress::~Progress() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isDone = true;
  }
  stop.notify_all();
  watcher.join();
}

void Progress::start(llvm::StringRef name) {
  std::lock_guard<std::mutex> lock(mutex);
  step = name;
}

void Progress::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  for (auto wait = seconds(2);
       !stop.wait_for(lock, wait, [&] { return isDone; });
       wait = std::min(2 * wait, seconds(30))) {
    auto elapsed = duration_cast<seconds>(steady_clock::now() - began);
    llvm::errs() << tool << ": " << step << " ... " << elapsed.count()
                 << " s\n";
  }
}
