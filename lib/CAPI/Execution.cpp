//===- Execution.cpp - Compile and call models from C ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Execution.h"
#include "Wrap.h"
#include "rope/Execution/Executable.h"

using namespace mlir::rope;

static Executable *unwrap(RopeExecutable executable) {
  return static_cast<Executable *>(executable.ptr);
}

static const EntryPoint &getEntry(RopeExecutable executable, size_t entry) {
  return unwrap(executable)->getEntryPoints()[entry];
}

static RopeValueSpec wrap(const ValueSpec &spec) {
  return {static_cast<RopeDType>(spec.dtype),
          spec.isScalar,
          spec.isWritable,
          static_cast<int64_t>(spec.shape.size()),
          spec.shape.data(),
          spec.type.c_str()};
}

RopeCompileOptions ropeCompileOptionsGetDefault() {
  CompileOptions options;
  return {nullptr, nullptr, nullptr, options.optLevel, options.portable};
}

static CompileOptions unwrap(const RopeCompileOptions &options) {
  CompileOptions result;
  auto assign = [](std::string &target, const char *text) {
    if (text)
      target = text;
  };
  assign(result.targetCPU, options.targetCPU);
  assign(result.targetFeatures, options.targetFeatures);
  assign(result.pipelineOptions, options.pipelineOptions);
  result.optLevel = options.optLevel;
  result.portable = options.portable;
  return result;
}

RopeExecutable ropeExecutableCompile(const char *text, size_t length,
                                     const char *name,
                                     const RopeCompileOptions *options,
                                     char **error) {
  auto executable = Executable::compileText(
      llvm::StringRef(text, length), name ? name : "model",
      options ? unwrap(*options) : CompileOptions());
  if (!executable) {
    setError(error, llvm::toString(executable.takeError()));
    return {nullptr};
  }
  return {executable->release()};
}

void ropeExecutableDestroy(RopeExecutable executable) {
  delete unwrap(executable);
}

size_t ropeExecutableGetNumEntries(RopeExecutable executable) {
  return unwrap(executable)->getEntryPoints().size();
}

const char *ropeExecutableGetEntryName(RopeExecutable executable,
                                       size_t entry) {
  return getEntry(executable, entry).name.c_str();
}

size_t ropeExecutableGetNumArgs(RopeExecutable executable, size_t entry) {
  return getEntry(executable, entry).args.size();
}

RopeValueSpec ropeExecutableGetArg(RopeExecutable executable, size_t entry,
                                   size_t index) {
  return wrap(getEntry(executable, entry).args[index]);
}

size_t ropeExecutableGetNumResults(RopeExecutable executable, size_t entry) {
  return getEntry(executable, entry).results.size();
}

RopeValueSpec ropeExecutableGetResult(RopeExecutable executable, size_t entry,
                                      size_t index) {
  return wrap(getEntry(executable, entry).results[index]);
}

bool ropeExecutableInvoke(RopeExecutable executable, size_t entry,
                          const RopeBuffer *args, size_t numArgs,
                          RopeArray *results, char **error) {
  llvm::SmallVector<ArrayView> views;
  for (size_t i = 0; i != numArgs; ++i) {
    if (!isValid(args[i].dtype)) {
      setError(error,
               "argument " + std::to_string(i) + ": unknown element type");
      return false;
    }
    views.push_back(mlir::rope::unwrap(args[i]));
  }
  auto called = unwrap(executable)->invoke(getEntry(executable, entry), views);
  if (!called) {
    setError(error, llvm::toString(called.takeError()));
    return false;
  }
  for (auto [index, array] : llvm::enumerate(*called))
    results[index] = mlir::rope::wrap(std::move(array));
  return true;
}
