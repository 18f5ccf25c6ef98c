//===- ParserFuzzTest.cpp - The parser on changed tests -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Feeds the cases of the lit tests of the dialect, and random changes of them,
// to the check that the fuzz target rope-fuzzer runs. Needs no libFuzzer.
// ROPE_FUZZ_SEED chooses the changes, ROPE_FUZZ_TEXTS their number (default:
// 20000).
//
//===----------------------------------------------------------------------===//

#include "ParserCheck.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "gtest/gtest.h"

using namespace mlir::rope;

/// The cases of the tests in a folder and those below.
static std::vector<std::string> readCases(llvm::StringRef folder) {
  std::vector<std::string> cases;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator file(folder, error), end;
       file != end && !error; file.increment(error)) {
    if (llvm::sys::path::extension(file->path()) != ".mlir")
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(file->path());
    if (!buffer)
      continue;
    llvm::SmallVector<llvm::StringRef> texts;
    (*buffer)->getBuffer().split(texts, "// -----");
    for (llvm::StringRef text : texts)
      cases.push_back(text.str());
  }
  llvm::sort(cases);
  return cases;
}

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  uint64_t number = otherwise;
  if (auto text = llvm::sys::Process::GetEnv(variable))
    if (llvm::StringRef(*text).getAsInteger(10, number))
      ADD_FAILURE() << variable << " is not a number: " << *text;
  return number;
}

TEST(ParserFuzz, TakesChangedTests) {
  std::vector<std::string> cases = readCases(ROPE_TEST_DIR "/IR");
  ASSERT_GT(cases.size(), 50u);
  fuzz::ParserCheck check;
  auto run = [&](llvm::StringRef text) {
    std::optional<std::string> error = check.run(text);
    EXPECT_FALSE(error) << *error << "\nof:\n" << text.str();
  };
  for (const std::string &text : cases)
    run(text);
  // The tests hold good text too.
  EXPECT_GT(check.getNumAccepted(), 0u);

  std::mt19937_64 rng(getNumber("ROPE_FUZZ_SEED", 1));
  for (uint64_t i = 0, count = getNumber("ROPE_FUZZ_TEXTS", 20000);
       i != count && !::testing::Test::HasFailure(); ++i)
    run(fuzz::mutate(cases[rng() % cases.size()], cases[rng() % cases.size()],
                     rng));
}
