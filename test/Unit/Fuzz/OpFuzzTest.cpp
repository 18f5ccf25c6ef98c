//===- OpFuzzTest.cpp - Random configurations of ops against the reference
//--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws configurations of every op (shapes, types, layouts, options), compiles
// them by rope-cpu-pipeline after random passes, runs them on random data and
// compares with the reference evaluator:
//
// - attention of f32 within 5e-7 for inputs in [−1, 1] and unit tables;
// - tables within 1.5e-7; rotations within 3e-7;
// - bf16 and f16 within 1.05 units in the last place of the reference rounded
//   once, where that is more.
//
// Case number i of a run has the seed ROPE_FUZZ_SEED + i (default: 1), and
// there are ROPE_FUZZ_CASES of them (default: 150). A longer run:
//
//   ROPE_FUZZ_SEED=$RANDOM ROPE_FUZZ_CASES=1000 build/release/bin/RopeFuzzTests
//
// A failure prints its seed; ROPE_FUZZ_SEED=<seed> ROPE_FUZZ_CASES=1 repeats
// it.
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "rope/Execution/Executable.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
/// Some cases in one module, because each compilation has its costs.
class Batch {
public:
  Batch(uint64_t firstSeed, uint64_t numCases);

  /// Compiles, calls and compares all cases.
  void run();

private:
  bool draw(uint64_t seed);
  void runCase(Case &drawn);
  void fail(const Case &drawn, StringRef message);

  uint64_t firstSeed, numCases;
  MLIRContext context;
  std::string messages;
  OwningOpRef<ModuleOp> module;
  std::vector<Case> cases;
  /// The function of each case, before and after random passes.
  llvm::StringMap<std::string> texts;
  std::unique_ptr<Executable> executable;
};
} // namespace

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

Batch::Batch(uint64_t firstSeed, uint64_t numCases)
    : firstSeed(firstSeed), numCases(numCases),
      context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.loadDialect<affine::AffineDialect, func::FuncDialect, RopeDialect,
                      scf::SCFDialect>();
  context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  module = ModuleOp::create(UnknownLoc::get(&context));
}

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

static std::string getKind() {
  return llvm::sys::Process::GetEnv("ROPE_FUZZ_KIND").value_or("");
}

void Batch::fail(const Case &drawn, StringRef message) {
  ADD_FAILURE() << "seed " << drawn.seed << ": " << message.str() << "\n"
                << messages << texts[drawn.name];
}

/// Adds a case to the module. False if it is wrong before it is compiled.
bool Batch::draw(uint64_t seed) {
  cases.push_back(drawCase(*module, seed, getKind()));
  Case &drawn = cases.back();
  auto function = module->lookupSymbol<func::FuncOp>(drawn.name);
  texts[drawn.name] = print(function);
  if (failed(verify(function))) {
    fail(drawn, "does not verify");
    return false;
  }
  FailureOr<std::string> passes = runRandomPasses(function, seed);
  if (succeeded(passes) && !passes->empty())
    texts[drawn.name] += "\n// after" + *passes + ":\n" + print(function);
  if (llvm::sys::Process::GetEnv("ROPE_FUZZ_PRINT"))
    llvm::errs() << texts[drawn.name] << "\n";
  if (succeeded(passes) && succeeded(verify(function)))
    return true;
  fail(drawn, "a pass failed");
  return false;
}

void Batch::run() {
  llvm::PrettyStackTraceFormat trace(
      "seeds %llu to %llu", static_cast<unsigned long long>(firstSeed),
      static_cast<unsigned long long>(firstSeed + numCases - 1));
  bool isGood = true;
  for (uint64_t i = 0; i != numCases; ++i)
    isGood &= draw(firstSeed + i);
  if (!isGood)
    return;
  CompileOptions options;
  options.optLevel = 1;
  executable = Executable::compile(*module, options);
  if (executable) {
    for (Case &drawn : cases)
      runCase(drawn);
    return;
  }
  if (numCases == 1)
    return fail(cases.front(), "does not compile");
  for (uint64_t i = 0; i != numCases; ++i)
    Batch(firstSeed + i, 1).run();
}

void Batch::runCase(Case &drawn) {
  const EntryPoint *entry =
      llvm::cantFail(findEntryPoint(executable->getEntryPoints(), drawn.name));
  SmallVector<ArrayView> views;
  for (Array &arg : drawn.args)
    views.push_back(arg.view());
  llvm::Expected<SmallVector<Array>> results =
      executable->invoke(*entry, views);
  if (!results)
    return fail(drawn, llvm::toString(results.takeError()));
  for (auto [i, want] : llvm::enumerate(drawn.wants)) {
    const Array &got =
        drawn.outputs.empty() ? (*results)[i] : drawn.args[drawn.outputs[i]];
    if (std::optional<std::string> difference = findDifference(got, want))
      fail(drawn, "result " + std::to_string(i) + ": " + *difference);
  }
}

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  uint64_t number = otherwise;
  if (auto text = llvm::sys::Process::GetEnv(variable))
    if (StringRef(*text).getAsInteger(10, number))
      ADD_FAILURE() << variable << " is not a number: " << *text;
  return number;
}

TEST(OpFuzz, AgreesWithReference) {
  llvm::sys::PrintStackTraceOnErrorSignal("RopeFuzzTests");
  llvm::EnablePrettyStackTrace();
  ASSERT_TRUE(isCaseKind(getKind())) << "no kind of case: " << getKind();
  constexpr uint64_t batchSize = 25;
  uint64_t seed = getNumber("ROPE_FUZZ_SEED", 1);
  uint64_t numCases = getNumber("ROPE_FUZZ_CASES", 150);
  for (uint64_t done = 0; done < numCases; done += batchSize)
    Batch(seed + done, std::min(batchSize, numCases - done)).run();
}
