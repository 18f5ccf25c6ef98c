//===- AttentionCase.cpp - A configuration of an attention op -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random operands, the inputs of the reference, and the calls.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using mlir::rope::reference::Extents;
using mlir::rope::reference::FloatFormat;
using mlir::rope::reference::IntArray;
using mlir::rope::reference::Shape;
using RefArray = mlir::rope::reference::Array;

static DType parseDType(StringRef elementType) {
  if (elementType == "index")
    return DType::I64;
  for (int32_t i = 0; i < kNumDTypes; ++i)
    if (rope::getName(static_cast<DType>(i)) == elementType)
      return static_cast<DType>(i);
  llvm::report_fatal_error("unknown element type");
}

FloatFormat test::getFloatFormat(StringRef elementType) {
  return getFormat(parseDType(elementType));
}

/// Uniform in [low, 1], rounded to the format.
static RefArray makeUniform(const Shape &shape, std::mt19937_64 &rng,
                            FloatFormat format, double low = -1.0) {
  // Not std::uniform_real_distribution: it differs between libraries.
  RefArray values(shape);
  for (int64_t i = 0; i < values.getNumElements(); ++i) {
    double unit = static_cast<double>(rng() >> 11) * 0x1p-53;
    values[i] = reference::roundTo(low + (1.0 - low) * unit, format);
  }
  return values;
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Extents AttentionCase::getExtents() const {
  return {{'b', b}, {'h', h}, {'g', g}, {'m', m}, {'n', n}, {'d', d}, {'e', e}};
}

/// The shape of an operand of these letters.
static Shape getShape(llvm::StringRef letters, const Extents &extents) {
  Shape shape;
  bool grouped = false;
  for (char c : letters) {
    if (c == '(' || c == ')') {
      grouped = c == '(';
      if (grouped)
        shape.push_back(1);
      continue;
    }
    int64_t extent = c == '1' ? 1 : extents.at(c);
    if (grouped)
      shape.back() *= extent;
    else
      shape.push_back(extent);
  }
  return shape;
}

static bool isInteger(const OperandCase &operand) {
  return operand.isIndex() || operand.type == "index" ||
         operand.type.front() == 'i';
}

Shape AttentionCase::getShape(const OperandCase &operand) const {
  return operand.isIndex() ? Shape()
                           : ::getShape(*operand.letters, getExtents());
}

std::vector<std::pair<std::string, const OperandCase *>>
AttentionCase::getInputs() const {
  std::vector<std::pair<std::string, const OperandCase *>> inputs = {
      {"query", &query},          {"key", &key},
      {"value", &value},          {"mask", &mask},
      {"query_pos", &queryPos},   {"key_pos", &keyPos},
      {"key_length", &keyLength}, {"sink", &sink}};
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(),
                     [](auto &input) { return !input.second->letters; }),
      inputs.end());
  return inputs;
}

std::vector<const OperandCase *> AttentionCase::getInits() const {
  std::vector<const OperandCase *> inits = {&output};
  for (const OperandCase *init : {&lse, &sum, &kvState, &kSum})
    if (init->letters)
      inits.push_back(init);
  return inits;
}

std::string AttentionCase::getComputeType() const {
  std::vector<const OperandCase *> operands = {&query, &key, &value};
  if (kind != AttentionKind::Softmax)
    operands.insert(operands.end(), {&lse, &sum, &kvState, &kSum});
  if (kind == AttentionKind::Online)
    operands.push_back(&output);
  return llvm::any_of(operands,
                      [](const OperandCase *operand) {
                        return operand->letters && operand->type == "f64";
                      })
             ? "f64"
             : "f32";
}

std::string AttentionCase::getCanonicalLetters(const OperandCase &init) const {
  if (&init == &output)
    return "bhgme";
  if (&init == &kvState)
    return "bhde";
  return &init == &kSum ? "bhd" : "bhgm";
}

std::vector<std::pair<std::string, const RotationCase *>>
AttentionCase::getTables() const {
  std::vector<std::pair<std::string, const RotationCase *>> tables;
  for (auto [name, rotation] : {std::pair("rotate_query", &rotateQuery),
                                {"rotate_key", &rotateKey},
                                {"rotate_value", &rotateValue},
                                {"rerotate_output", &rerotateOutput}})
    if (*rotation)
      tables.emplace_back(name, &**rotation);
  return tables;
}

const OperandCase &
AttentionCase::getRotated(const RotationCase &rotation) const {
  if (rotateQuery && &rotation == &*rotateQuery)
    return query;
  if (rotateKey && &rotation == &*rotateKey)
    return key;
  return rotateValue && &rotation == &*rotateValue ? value : output;
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

static void randomizeMask(OperandCase &mask, const Shape &shape,
                          std::mt19937_64 &rng) {
  bool isBoolean = mask.type == "i1";
  mask.values = makeUniform(
      shape, rng, isBoolean ? FloatFormat::F64 : getFloatFormat(mask.type));
  for (int64_t i = 0; i < mask.values.getNumElements(); ++i) {
    bool hole = rng() % 3 == 0;
    if (isBoolean)
      mask.values[i] = hole ? 0.0 : 1.0;
    else if (hole)
      mask.values[i] = -kInfinity;
  }
}

static void randomizeSlots(OperandCase &slots, const Shape &shape,
                           int64_t bound, std::mt19937_64 &rng) {
  slots.integers = IntArray(shape);
  for (int64_t i = 0; i < slots.integers.getNumElements(); ++i)
    slots.integers[i] = static_cast<int64_t>(rng() % (bound + 1));
}

static void randomizeTable(RotationCase &rotation, const Extents &extents,
                           std::mt19937_64 &rng) {
  Shape shape = getShape(rotation.letters, extents);
  int64_t width = rotation.rotary.full ? 2 * rotation.pairs : rotation.pairs;
  int64_t rows = reference::getNumElements(shape);
  shape.push_back(2);
  shape.push_back(width);
  rotation.table = RefArray(shape);
  FloatFormat format = getFloatFormat(rotation.type);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i) {
      double angle = static_cast<double>(rng() % 10000) * 1e-3;
      RefArray &table = rotation.table;
      table[row * 2 * width + i] = reference::roundTo(std::cos(angle), format);
      table[(row * 2 + 1) * width + i] =
          reference::roundTo(std::sin(angle), format);
    }
}

void AttentionCase::randomize(uint64_t seed) {
  std::mt19937_64 rng(seed);
  Extents extents = getExtents();
  for (OperandCase *operand : {&query, &key, &value, &sink})
    if (operand->letters)
      operand->values =
          makeUniform(getShape(*operand), rng, getFloatFormat(operand->type));
  if (mask.letters)
    randomizeMask(mask, getShape(mask), rng);
  for (OperandCase *slots : {&queryPos, &keyPos, &keyLength})
    if (slots->letters)
      randomizeSlots(*slots, getShape(*slots), n, rng);
  for (auto *rotation :
       {&rotateQuery, &rotateKey, &rotateValue, &rerotateOutput})
    if (*rotation)
      randomizeTable(**rotation, extents, rng);
  inits.clear();
  for (const OperandCase *init : getInits()) {
    FloatFormat format = getFloatFormat(init->type);
    bool isRead = kind == AttentionKind::Online ||
                  (kind == AttentionKind::Linear && init != &output);
    // Sums of exponentials and of features are positive.
    double low = init == &sum || init == &kSum ? 0.5 : -1.0;
    Shape shape = getShape(*init);
    inits.push_back(isRead ? makeUniform(shape, rng, format, low)
                           : RefArray::filled(shape, kNaN));
  }
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

/// The positions of an operand, a list or the first ones, as `letters`: the
/// batch and a dim of this extent.
static IntArray getPositions(const OperandCase &operand,
                             const std::string &letters,
                             const Extents &extents) {
  bool isList = !operand.isIndex() &&
                operand.letters->find(letters[1]) != std::string::npos;
  RefArray values(operand.integers.getShape());
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    values[i] = static_cast<double>(operand.integers[i]);
  values = reference::rearrange(
      values, operand.isIndex() ? "" : *operand.letters, letters, extents);
  int64_t size = extents.at(letters[1]);
  IntArray positions(values.getShape());
  for (int64_t i = 0; i < positions.getNumElements(); ++i)
    positions[i] = static_cast<int64_t>(values[i]) + (isList ? 0 : i % size);
  return positions;
}

/// The rotation with `along` for an operand of these canonical letters, and a
/// table whose group of heads is split.
static std::optional<reference::RoleRotation>
getRotation(const std::optional<RotationCase> &rotation,
            const std::string &canonical, const Extents &extents) {
  if (!rotation)
    return std::nullopt;
  reference::RoleRotation role{rotation->table, rotation->rotary};
  Shape shape;
  for (char letter : rotation->letters) {
    if (letter == '(' || letter == ')')
      continue;
    role.rotary.along.push_back(canonical.find(letter));
    shape.push_back(extents.at(letter));
  }
  shape.push_back(2);
  shape.push_back(rotation->table.getShape().back());
  role.table = role.table.reshape(shape);
  return role;
}

reference::AttentionInputs AttentionCase::getAttentionInputs() const {
  Extents extents = getExtents();
  auto get = [&](const OperandCase &operand, const char *letters) {
    return reference::rearrange(operand.values, *operand.letters, letters,
                                extents);
  };
  reference::AttentionInputs inputs;
  inputs.query = get(query, "bhgmd");
  inputs.key = get(key, "bhnd");
  inputs.value = get(value, "bhne");
  inputs.scale = scale;
  if (mask.letters)
    inputs.mask = get(mask, "bhgmn");
  inputs.maskKind = mask.type == "i1" ? reference::MaskKind::Keep
                                      : reference::MaskKind::Additive;
  if (queryPos.letters)
    inputs.queryPositions = getPositions(queryPos, "bm", extents);
  if (keyPos.letters)
    inputs.keyPositions = getPositions(keyPos, "bn", extents);
  if (keyLength.letters) {
    // Without a list dim the values themselves are wanted.
    Extents single = extents;
    single['n'] = 1;
    inputs.keyLength =
        getPositions(keyLength, "bn", single).reshape({extents['b']});
  }
  if (sink.letters)
    inputs.sink = get(sink, "hg");
  inputs.causal = causal;
  inputs.window = window;
  inputs.softcap = softcap;
  inputs.rotateQuery = getRotation(rotateQuery, "bhgmd", extents);
  inputs.rotateKey = getRotation(rotateKey, "bhnd", extents);
  inputs.rotateValue = getRotation(rotateValue, "bhne", extents);
  inputs.rerotateOutput = getRotation(rerotateOutput, "bhgme", extents);
  return inputs;
}

reference::LinearAttentionInputs AttentionCase::getLinearInputs() const {
  reference::AttentionInputs attention = getAttentionInputs();
  reference::LinearAttentionInputs inputs;
  inputs.query = attention.query;
  inputs.key = attention.key;
  inputs.value = attention.value;
  inputs.featureMap = featureMap;
  inputs.causal = causal;
  inputs.normalizerEps = normalizerEps;
  inputs.rotateQuery = attention.rotateQuery;
  inputs.rotateKey = attention.rotateKey;
  Extents extents = getExtents();
  if (kvState.letters)
    inputs.kvState =
        reference::rearrange(inits[1], *kvState.letters, "bhde", extents);
  if (kSum.letters)
    inputs.kSum = reference::rearrange(inits[2], *kSum.letters, "bhd", extents);
  return inputs;
}

std::vector<RefArray> AttentionCase::evaluate() const {
  if (kind == AttentionKind::Linear) {
    auto result = reference::linearAttention(getLinearInputs());
    return {result.output, result.kvState, result.kSum};
  }
  if (kind == AttentionKind::Softmax) {
    auto result = reference::attention(getAttentionInputs());
    return {result.output, result.lse};
  }
  std::vector<RefArray> canonical;
  for (auto [i, init] : llvm::enumerate(getInits()))
    canonical.push_back(reference::rearrange(
        inits[i], *init->letters, getCanonicalLetters(*init), getExtents()));
  auto state = reference::onlineAttention(
      getAttentionInputs(), {canonical[0], canonical[1], canonical[2]});
  return {state.acc, state.max, state.sum};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::vector<RefArray> AttentionCase::run() const {
  std::vector<rope::Array> args;
  for (const auto &[name, operand] : getInputs())
    args.push_back(isInteger(*operand) && operand->type != "i1"
                       ? makeArray(parseDType(operand->type), operand->integers)
                       : makeArray(parseDType(operand->type), operand->values));
  for (const auto &[name, rotation] : getTables())
    args.push_back(makeArray(parseDType(rotation->type), rotation->table));
  size_t firstInit = args.size();
  for (auto [i, init] : llvm::enumerate(getInits()))
    args.push_back(makeArray(parseDType(init->type), inits[i]));
  std::vector<ArrayView> views;
  for (rope::Array &arg : args)
    views.push_back(arg.view());
  ProgramOptions options;
  if (!passes.empty())
    options.passes = "builtin.module(" + passes + ")";
  options.compile.portable = portable;
  options.compile.pipelineOptions = pipelineOptions;
  std::vector<RefArray> results;
  Program program(getText(), options);
  for (const rope::Array &result : program.call("f", views))
    results.push_back(toReference(result));
  for (auto [i, init] : llvm::enumerate(getInits())) {
    if (memrefs)
      results.push_back(toReference(args[firstInit + i]));
    results[i] = reference::rearrange(results[i], *init->letters,
                                      getCanonicalLetters(*init), getExtents());
  }
  return results;
}

static bool isClose(double value, double exact, FloatFormat format,
                    double size) {
  if (value == exact || (std::isnan(value) && std::isnan(exact)))
    return true;
  double error = std::abs(value - exact);
  if (format == FloatFormat::F64)
    return error <= 1e-13 * size;
  if (error <= 5e-7 * size)
    return true;
  return format != FloatFormat::F32 &&
         reference::getUlpError(value, reference::roundTo(exact, format),
                                format) <= 1.05;
}

reference::MaybeError test::compare(const RefArray &values,
                                    const RefArray &exact,
                                    llvm::StringRef elementType, double size) {
  if (values.getShape() != exact.getShape())
    return "shape " + reference::toString(values.getShape()) + ", expected " +
           reference::toString(exact.getShape());
  FloatFormat format = getFloatFormat(elementType);
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    if (!isClose(values[i], exact[i], format, size))
      return llvm::formatv("element {0} is {1}, expected {2}", i,
                           llvm::format("%.9g", values[i]),
                           llvm::format("%.9g", exact[i]))
          .str();
  return std::nullopt;
}

/// The largest finite magnitude, at least 1.
static double getSize(const RefArray &values) {
  double size = 1.0;
  for (double value : values.getElements())
    if (std::isfinite(value))
      size = std::max(size, std::abs(value));
  return size;
}

reference::MaybeError test::check(const AttentionCase &attention) {
  std::vector<RefArray> values = attention.run(), exact = attention.evaluate();
  for (auto [i, init] : llvm::enumerate(attention.getInits())) {
    // An f64 result of sums in f32 is as good as those.
    bool isF64 = attention.getComputeType() == "f64";
    std::string type = init->type == "f64" && !isF64 ? "f32" : init->type;
    bool isState = attention.kind != AttentionKind::Softmax;
    if (reference::MaybeError error = compare(
            values[i], exact[i], type, isState ? getSize(exact[i]) : 1.0))
      return "result " + std::to_string(i) + ": " + *error + "\n" +
             attention.passes + "\n" + attention.getText();
  }
  return std::nullopt;
}
