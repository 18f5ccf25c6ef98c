//===- Inputs.cpp - Arguments for a call of a model -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "rope/Execution/Npy.h"
#include "rope/Execution/Random.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::rope;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Error checkCount(const EntryPoint &entry, size_t count,
                              StringRef what) {
  if (count == entry.args.size())
    return llvm::Error::success();
  return fail("@" + entry.name + " takes " + Twine(entry.args.size()) +
              " arguments, got " + Twine(count) + " " + what + ": " +
              entry.getSignature());
}

static llvm::Error checkArgument(const EntryPoint &entry, size_t index,
                                 const Array &array, StringRef file) {
  llvm::Error error =
      entry.args[index].check(array.getDType(), array.getShape());
  if (!error)
    return error;
  return fail("argument " + Twine(index) + " ('" + file +
              "'): " + llvm::toString(std::move(error)));
}

/// The array of an archive that is for an argument.
static NamedArrays::iterator findInput(NamedArrays &arrays, size_t index) {
  std::string number = std::to_string(index);
  return llvm::find_if(arrays, [&](const auto &array) {
    return array.first == "in" + number || array.first == "arr_" + number;
  });
}

static llvm::Expected<std::vector<Array>> readArchive(const EntryPoint &entry,
                                                      StringRef path) {
  llvm::Expected<NamedArrays> arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  if (findInput(*arrays, entry.args.size()) != arrays->end())
    return fail("'" + path + "' has an array for argument " +
                Twine(entry.args.size()) + ", but @" + entry.name + " takes " +
                Twine(entry.args.size()) + ": " + entry.getSignature());
  std::vector<Array> inputs;
  for (size_t i = 0; i != entry.args.size(); ++i) {
    std::string number = std::to_string(i);
    auto found = findInput(*arrays, i);
    if (found == arrays->end())
      return fail("argument " + number + ": '" + path +
                  "' has no array called in" + number + ": " +
                  entry.getSignature());
    std::string name = (path + ":" + found->first).str();
    if (llvm::Error error = checkArgument(entry, i, found->second, name))
      return std::move(error);
    inputs.push_back(std::move(found->second));
  }
  return inputs;
}

llvm::Expected<std::vector<Array>>
mlir::rope::readInputs(const EntryPoint &entry, ArrayRef<std::string> paths) {
  if (paths.size() == 1 && StringRef(paths[0]).ends_with(".npz"))
    return readArchive(entry, paths[0]);
  if (llvm::Error error = checkCount(entry, paths.size(), "files"))
    return std::move(error);
  std::vector<Array> inputs;
  for (auto [index, path] : llvm::enumerate(paths)) {
    llvm::Expected<Array> array = readNpy(path);
    if (!array)
      return fail("argument " + Twine(index) + ": " +
                  llvm::toString(array.takeError()));
    if (llvm::Error error = checkArgument(entry, index, *array, path))
      return std::move(error);
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

static InputSpec getDefaultSpec(DType dtype) {
  InputSpec spec;
  spec.dtype = dtype;
  if (dtype == DType::I1) {
    spec.distribution = InputSpec::Distribution::Integers;
    spec.scale = 2;
  } else if (!isFloat(dtype) && !isComplex(dtype)) {
    spec.distribution = InputSpec::Distribution::Iota;
  }
  return spec;
}

/// The shape that argument `index` is drawn in.
static llvm::Expected<SmallVector<int64_t>>
getRandomShape(const ValueSpec &arg, size_t index,
               const std::map<unsigned, SmallVector<int64_t>> &shapes,
               std::optional<int64_t> dims) {
  auto given = shapes.find(index);
  SmallVector<int64_t> shape =
      given == shapes.end() ? arg.shape : given->second;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (!dims)
      return fail("argument " + Twine(index) + " is " + arg.type +
                  ": give its sizes by --shape " + Twine(index) +
                  "=AxB or --dims N");
    size = *dims;
  }
  if (llvm::Error error = arg.check(arg.dtype, shape))
    return fail("argument " + Twine(index) + ": " +
                llvm::toString(std::move(error)));
  return shape;
}

llvm::Expected<std::vector<InputSpec>> mlir::rope::getRandomSpecs(
    const EntryPoint &entry,
    const std::map<unsigned, SmallVector<int64_t>> &shapes,
    std::optional<int64_t> dims) {
  for (const auto &[index, shape] : shapes)
    if (index >= entry.args.size())
      return fail("--shape " + Twine(index) + "=" + formatShape(shape) + ": @" +
                  entry.name + " takes " + Twine(entry.args.size()) +
                  " arguments");
  std::vector<InputSpec> specs;
  for (auto [index, arg] : llvm::enumerate(entry.args)) {
    auto shape = getRandomShape(arg, index, shapes, dims);
    if (!shape)
      return shape.takeError();
    InputSpec &spec = specs.emplace_back(getDefaultSpec(arg.dtype));
    spec.shape = std::move(*shape);
  }
  return specs;
}

/// Element `index` of an argument whose last dimension has `last` elements.
static double draw(const InputSpec &spec, RandomGenerator &generator,
                   int64_t index, int64_t last) {
  switch (spec.distribution) {
  case InputSpec::Distribution::Normal:
    return generator.nextNormal() * spec.scale;
  case InputSpec::Distribution::Integers:
    return generator.nextBelow(static_cast<uint64_t>(spec.scale));
  case InputSpec::Distribution::Iota:
    return index % last;
  case InputSpec::Distribution::Ones:
    return 1;
  case InputSpec::Distribution::Full:
    return spec.scale;
  }
  llvm_unreachable("unknown distribution");
}

static llvm::Expected<Array> drawInput(const InputSpec &spec, uint32_t seed,
                                       uint32_t index) {
  llvm::Expected<Array> array = Array::create(spec.dtype, spec.shape);
  if (!array)
    return array;
  RandomGenerator generator({seed, index});
  int64_t last = spec.shape.empty() ? 1 : spec.shape.back();
  for (int64_t i = 0, e = array->getNumElements(); i != e; ++i)
    array->set(i, draw(spec, generator, i, last));
  return array;
}

llvm::Expected<std::vector<Array>>
mlir::rope::drawInputs(const EntryPoint &entry, ArrayRef<InputSpec> specs,
                       uint32_t seed) {
  if (llvm::Error error = checkCount(entry, specs.size(), "specifications"))
    return std::move(error);
  std::vector<Array> inputs;
  for (auto [index, spec] : llvm::enumerate(specs)) {
    if (llvm::Error error = entry.args[index].check(spec.dtype, spec.shape))
      return fail("argument " + Twine(index) + ": " +
                  llvm::toString(std::move(error)));
    llvm::Expected<Array> array = drawInput(spec, seed, index);
    if (!array)
      return fail("argument " + Twine(index) + ": " +
                  llvm::toString(array.takeError()));
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

std::optional<SmallVector<int64_t>> mlir::rope::parseShape(StringRef text) {
  SmallVector<int64_t> shape;
  if (text.empty())
    return shape;
  for (StringRef part : llvm::split(text, 'x')) {
    int64_t size;
    if (part.getAsInteger(10, size) || size < 0)
      return std::nullopt;
    shape.push_back(size);
  }
  return shape;
}
