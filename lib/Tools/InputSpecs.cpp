//===- InputSpecs.cpp - Inputs described in JSON --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "rope/Execution/Files.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::rope;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

static std::optional<DType> parseDType(StringRef name) {
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Case("float16", DType::F16)
      .Case("bfloat16", DType::BF16)
      .Case("float32", DType::F32)
      .Case("float64", DType::F64)
      .Case("bool", DType::I1)
      .Case("int8", DType::I8)
      .Case("int16", DType::I16)
      .Case("int32", DType::I32)
      .Case("int64", DType::I64)
      .Case("uint8", DType::U8)
      .Default(std::nullopt);
}

static std::optional<InputSpec::Distribution>
parseDistribution(StringRef name) {
  using Distribution = InputSpec::Distribution;
  return llvm::StringSwitch<std::optional<Distribution>>(name)
      .Case("normal", Distribution::Normal)
      .Case("integers", Distribution::Integers)
      .Case("iota", Distribution::Iota)
      .Case("ones", Distribution::Ones)
      .Case("full", Distribution::Full)
      .Default(std::nullopt);
}

static llvm::Expected<InputSpec> parseSpec(const llvm::json::Value &value) {
  llvm::json::Path::Root root;
  llvm::json::ObjectMapper object(value, root);
  std::vector<int64_t> shape;
  std::string dtypeName, distributionName;
  InputSpec spec;
  if (!object || !object.map("shape", shape) ||
      !object.map("dtype", dtypeName) ||
      !object.map("dist", distributionName) ||
      !object.mapOptional("scale", spec.scale))
    return fail("expected {\"shape\", \"dtype\", \"dist\", \"scale\"}");
  std::optional<DType> dtype = parseDType(dtypeName);
  if (!dtype)
    return fail("unknown dtype '" + dtypeName + "'");
  auto distribution = parseDistribution(distributionName);
  if (!distribution)
    return fail("unknown dist '" + distributionName +
                "', expected normal, integers, iota, ones or full");
  if (*distribution == InputSpec::Distribution::Integers &&
      !(spec.scale >= 1 && spec.scale <= 0x1p32))
    return fail("integers need a scale from 1 to 2^32");
  spec.shape.assign(shape.begin(), shape.end());
  spec.dtype = *dtype;
  spec.distribution = *distribution;
  return spec;
}

llvm::Expected<std::vector<InputSpec>>
mlir::rope::readInputSpecs(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  auto json = llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return fail("'" + path + "': " + llvm::toString(json.takeError()));
  const llvm::json::Array *list = json->getAsArray();
  if (!list)
    return fail("'" + path + "': expected a list");
  std::vector<InputSpec> specs;
  for (auto [index, value] : llvm::enumerate(*list)) {
    llvm::Expected<InputSpec> spec = parseSpec(value);
    if (!spec)
      return fail("'" + path + "': entry " + Twine(index) + ": " +
                  llvm::toString(spec.takeError()));
    specs.push_back(std::move(*spec));
  }
  return specs;
}
