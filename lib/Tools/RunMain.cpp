//===- RunMain.cpp - The rope-run tool ------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Tools/RunMain.h"
#include "CompileFlags.h"
#include "Inputs.h"
#include "Progress.h"
#include "Report.h"
#include "rope/Execution/Executable.h"
#include "rope/IR/Rope.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace mlir;
using namespace mlir::rope;
namespace cl = llvm::cl;

static constexpr llvm::StringLiteral kTool = "rope-run";

namespace {

/// The command line. Lives in `runMain`, so that a host which links this
/// library gets no options from it.
struct Flags {
  cl::OptionCategory category{"rope-run options"};
  cl::opt<std::string> model{cl::Positional, cl::Required,
                             cl::desc("MODEL.mlir"), cl::cat(category)};
  cl::list<std::string> inputs{cl::Positional,
                               cl::desc("[INPUT.npy... | INPUTS.npz]"),
                               cl::cat(category)};
  cl::opt<std::string> entry{
      "entry", cl::desc("Function to call (default: main, or the only one)"),
      cl::cat(category)};
  cl::opt<unsigned> random{
      "random", cl::value_desc("seed"),
      cl::desc("Draw the inputs: floats standard normal, integers counting "
               "along the last dimension, i1 by chance"),
      cl::cat(category)};
  cl::opt<std::string> inputSpec{
      "input-spec", cl::value_desc("file.json"),
      cl::desc("Draw the inputs as a list of {shape, dtype, dist, scale} says; "
               "seed 7 unless --random gives another"),
      cl::cat(category)};
  cl::list<std::string> shapes{"shape", cl::value_desc("i=AxB"),
                               cl::desc("Shape of random input i"),
                               cl::cat(category)};
  cl::opt<int64_t> dims{
      "dims", cl::value_desc("n"),
      cl::desc("Size of every other dynamic dimension of random inputs"),
      cl::cat(category)};
  cl::opt<std::string> save{"save", cl::value_desc("file.npz"),
                            cl::desc("Write the results as out0, out1, ..."),
                            cl::cat(category)};
  cl::opt<std::string> outputDir{
      "output-dir", cl::value_desc("folder"),
      cl::desc("Write the results as out0.npy, out1.npy, ..."),
      cl::cat(category)};
  cl::opt<bool> print{"print", cl::desc("Print the elements of the results"),
                      cl::cat(category)};
  cl::opt<std::string> expect{
      "expect", cl::value_desc("file.npz"),
      cl::desc("Compare with out0, ... or with val0, ... at the places pos0, "
               "..."),
      cl::cat(category)};
  cl::opt<double> rtol{
      "rtol", cl::value_desc("x"),
      cl::desc("Fail when --expect or --compare finds a difference above x "
               "times the largest expected value"),
      cl::cat(category)};
  cl::opt<bool> compare{
      "compare", cl::desc("Compare with the model compiled by plain loops"),
      cl::cat(category)};
  cl::opt<unsigned> time{"time", cl::value_desc("n"),
                         cl::desc("Call n times, print the best and the median "
                                  "time"),
                         cl::cat(category)};
  CompileFlags compile{category, "native"};
};

/// One run of the tool.
class Runner {
public:
  explicit Runner(const Flags &flags) : flags(flags) {}
  llvm::Error run();

private:
  llvm::Expected<std::vector<Array>> getInputs();
  llvm::Expected<std::vector<Array>> getRandomInputs();
  llvm::Expected<SmallVector<Array>>
  packWeights(const Executable &executable, const EntryPoint &compiled,
              SmallVectorImpl<ArrayView> &args);
  llvm::Expected<SmallVector<Array>>
  compileAndCall(ModuleOp module, const CompileOptions &options,
                 unsigned calls);
  void keepInputs();
  void restoreInputs();
  llvm::Error checkTolerance() const;
  llvm::Error save(ArrayRef<Array> results);
  llvm::Error check(ArrayRef<Array> results, OwningOpRef<ModuleOp> original);

  const Flags &flags;
  LoadedModel model;
  // As the model has it.
  EntryPoint entry;
  std::vector<Array> inputs;
  // Of those inputs that a call may write to, what they hold before it.
  std::map<unsigned, std::vector<char>> originals;
  Progress progress{kTool};
};

} // namespace

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Expected<std::map<unsigned, SmallVector<int64_t>>>
parseShapes(ArrayRef<std::string> texts) {
  std::map<unsigned, SmallVector<int64_t>> shapes;
  for (StringRef text : texts) {
    auto [number, sizes] = text.split('=');
    unsigned index;
    auto shape = parseShape(sizes);
    if (number.getAsInteger(10, index) || !shape || !text.contains('='))
      return fail("--shape " + text + ": expected INDEX=AxBxC");
    if (!shapes.try_emplace(index, std::move(*shape)).second)
      return fail("--shape " + text + ": argument " + number +
                  " has a shape already");
  }
  return shapes;
}

llvm::Expected<std::vector<Array>> Runner::getRandomInputs() {
  auto shapes = parseShapes(flags.shapes);
  if (!shapes)
    return shapes.takeError();
  std::optional<int64_t> dims;
  if (flags.dims.getNumOccurrences())
    dims = flags.dims;
  if (dims && *dims < 0)
    return fail("--dims " + Twine(*dims) + ": a size cannot be negative");
  bool isListed = !flags.inputSpec.empty();
  auto specs = isListed ? readInputSpecs(flags.inputSpec)
                        : getRandomSpecs(entry, *shapes, dims);
  if (!specs)
    return specs.takeError();
  // 7: the seed that the list of a performance case is meant for.
  unsigned seed = flags.random.getNumOccurrences() ? flags.random : 7;
  return drawInputs(entry, *specs, seed);
}

llvm::Expected<std::vector<Array>> Runner::getInputs() {
  bool isRandom =
      flags.random.getNumOccurrences() || flags.inputSpec.getNumOccurrences();
  if (isRandom && !flags.inputs.empty())
    return fail("give either input files or --random or --input-spec");
  if (!isRandom && (!flags.shapes.empty() || flags.dims.getNumOccurrences()))
    return fail("--shape and --dims need --random");
  return isRandom ? getRandomInputs() : readInputs(entry, flags.inputs);
}

void Runner::keepInputs() {
  for (auto [i, input] : llvm::enumerate(inputs))
    if (entry.args[i].isWritable)
      originals[i].assign(input.getData(),
                          input.getData() + input.getNumBytes());
}

/// Each call gets what the first one got.
void Runner::restoreInputs() {
  for (auto &[i, bytes] : originals)
    llvm::copy(bytes, inputs[i].getData());
}

/// Prints the best and the median of `seconds`.
static void reportTimes(std::vector<double> seconds) {
  llvm::sort(seconds);
  llvm::outs() << llvm::format(
      "time: best %.3f ms, median %.3f ms of %zu\n", 1e3 * seconds.front(),
      1e3 * seconds[seconds.size() / 2], seconds.size());
}

/// Has the weights in `args` packed that the compiled entry wants so; returns
/// their memory.
llvm::Expected<SmallVector<Array>>
Runner::packWeights(const Executable &executable, const EntryPoint &compiled,
                    SmallVectorImpl<ArrayView> &args) {
  SmallVector<unsigned> packed;
  SmallVector<ArrayView> weights;
  for (unsigned i = 0; i < args.size(); ++i) {
    if (compiled.args[i].type == entry.args[i].type)
      continue;
    packed.push_back(i);
    weights.push_back(args[i]);
  }
  if (packed.empty())
    return SmallVector<Array>();
  auto packing = findEntryPoint(executable.getEntryPoints(),
                                (kPackWeightsPrefix + entry.name).str());
  if (!packing)
    return packing.takeError();
  auto results = executable.invoke(**packing, weights);
  if (results)
    for (auto [i, array] : llvm::zip_equal(packed, *results))
      args[i] = array.view();
  return results;
}

llvm::Expected<SmallVector<Array>>
Runner::compileAndCall(ModuleOp module, const CompileOptions &options,
                       unsigned calls) {
  progress.start(options.portable ? "compiling by plain loops" : "compiling");
  std::unique_ptr<Executable> executable = Executable::compile(module, options);
  if (!executable)
    return alreadyReported();
  const EntryPoint *compiled =
      llvm::cantFail(findEntryPoint(executable->getEntryPoints(), entry.name));
  SmallVector<ArrayView> args;
  for (Array &input : inputs)
    args.push_back(input.view());
  auto packed = packWeights(*executable, *compiled, args);
  if (!packed)
    return packed.takeError();
  progress.start("running");
  std::vector<double> seconds;
  SmallVector<Array> results;
  for (unsigned i = 0; i != std::max(calls, 1u); ++i) {
    restoreInputs();
    auto start = std::chrono::steady_clock::now();
    auto called = executable->invoke(*compiled, args);
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!called)
      return called.takeError();
    seconds.push_back(elapsed.count());
    results = std::move(*called);
  }
  if (calls)
    reportTimes(std::move(seconds));
  return results;
}

llvm::Error Runner::save(ArrayRef<Array> results) {
  std::vector<std::pair<std::string, const Array *>> named;
  for (auto [index, array] : llvm::enumerate(results))
    named.emplace_back("out" + std::to_string(index), &array);
  if (!flags.save.empty())
    if (llvm::Error error = writeNpz(flags.save, named))
      return error;
  if (flags.outputDir.empty())
    return llvm::Error::success();
  if (std::error_code error =
          llvm::sys::fs::create_directories(flags.outputDir.getValue()))
    return fail("cannot create '" + flags.outputDir + "': " + error.message());
  for (const auto &[name, array] : named)
    if (llvm::Error error =
            writeNpy(flags.outputDir + "/" + name + ".npy", *array))
      return error;
  return llvm::Error::success();
}

llvm::Error Runner::check(ArrayRef<Array> results,
                          OwningOpRef<ModuleOp> original) {
  std::optional<double> rtol;
  if (flags.rtol.getNumOccurrences())
    rtol = flags.rtol;
  bool isGood = true;
  if (!flags.expect.empty()) {
    llvm::Expected<NamedArrays> expected = readNpz(flags.expect);
    if (!expected)
      return expected.takeError();
    llvm::outs() << "against " << flags.expect << ":\n";
    auto report =
        reportExpected(llvm::outs(), results, std::move(*expected), rtol);
    if (!report)
      return report.takeError();
    isGood &= *report;
  }
  if (original) {
    CompileOptions options = flags.compile.get();
    options.portable = true;
    auto yardstick = compileAndCall(*original, options, 0);
    if (!yardstick)
      return yardstick.takeError();
    llvm::outs() << "against plain loops:\n";
    auto report = reportComparison(llvm::outs(), results, *yardstick, rtol);
    if (!report)
      return report.takeError();
    isGood &= *report;
  }
  return isGood ? llvm::Error::success()
                : fail("a result differs by more than the tolerance");
}

llvm::Error Runner::checkTolerance() const {
  if (!flags.rtol.getNumOccurrences())
    return llvm::Error::success();
  if (flags.expect.empty() && !flags.compare)
    return fail("--rtol needs --expect or --compare");
  if (flags.rtol >= 0)
    return llvm::Error::success();
  return fail("--rtol: expected a number that is not negative");
}

llvm::Error Runner::run() {
  if (llvm::Error error = checkTolerance())
    return error;
  progress.start("reading " + flags.model);
  if (failed(model.load(flags.model)))
    return alreadyReported();
  std::vector<EntryPoint> entries = getEntryPoints(model.getModule());
  auto found = findEntryPoint(entries, flags.entry);
  if (!found)
    return found.takeError();
  entry = **found;
  if (!entry.obstacle.empty())
    return fail("cannot call @" + entry.name + ": " + entry.obstacle);
  progress.start("reading inputs");
  auto read = getInputs();
  if (!read)
    return read.takeError();
  inputs = std::move(*read);
  keepInputs();

  OwningOpRef<ModuleOp> original;
  if (flags.compare)
    original = model.clone();
  auto results =
      compileAndCall(model.getModule(), flags.compile.get(), flags.time);
  if (!results)
    return results.takeError();
  printSummary(llvm::outs(), *results);
  if (flags.print)
    for (const Array &array : *results)
      printElements(llvm::outs(), array, INT64_MAX);
  if (llvm::Error error = save(*results))
    return error;
  return check(*results, std::move(original));
}

int mlir::rope::runMain(int argc, char **argv) {
  Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles MODEL.mlir for this machine, calls it and reports the "
      "results.\nExit status: 0, or 1 when the input is bad or a result is "
      "over --rtol.\n");
  return getExitStatus(kTool, Runner(flags).run());
}
