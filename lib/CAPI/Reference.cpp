//===- Reference.cpp - The f64 reference evaluator from C -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Reference.h"
#include "Wrap.h"
#include "rope/Reference/Attention.h"
#include "rope/Reference/LinearAttention.h"
#include "rope/Reference/Table.h"
#include <cstring>

using namespace mlir::rope;
namespace ref = mlir::rope::reference;

namespace {

/// Turns C operands into those of the evaluator, and keeps the first fault.
class Reader {
public:
  template <typename T>
  ref::BasicArray<T> read(const RopeBuffer &buffer, llvm::StringRef name);
  ref::Array readFloats(const RopeBuffer &buffer, llvm::StringRef name) {
    return read<double>(buffer, name);
  }
  std::optional<ref::Array> readOptional(const RopeBuffer *buffer,
                                         llvm::StringRef name);
  std::optional<ref::IntArray> readIntegers(const RopeBuffer *buffer,
                                            llvm::StringRef name);
  std::optional<ref::RoleRotation> readRotation(const RopeRotation *rotation,
                                                llvm::StringRef name);
  /// The enumerator with the number that `value` has in C, up to `last`.
  template <typename To, typename From>
  To readEnum(From value, To last, llvm::StringRef name);
  void readMask(const RopeBuffer *mask, ref::AttentionInputs &inputs);

  /// Reports the first fault of the operands, or what `check` finds wrong with
  /// them together. Returns whether all is well.
  bool finish(llvm::function_ref<ref::MaybeError()> check, char **error);

private:
  ref::MaybeError fault;
};

} // namespace

template <typename T>
ref::BasicArray<T> Reader::read(const RopeBuffer &buffer,
                                llvm::StringRef name) {
  constexpr RopeDType expected =
      std::is_same_v<T, double> ? ROPE_F64 : ROPE_I64;
  ref::Shape shape(buffer.shape, buffer.shape + buffer.rank);
  std::optional<int64_t> count = countElements(shape);
  if (buffer.dtype != expected || !count) {
    if (!fault)
      fault = (name + " must be an array of " +
               getName(static_cast<DType>(expected)))
                  .str();
    return {};
  }
  auto *data = static_cast<const T *>(buffer.data);
  return ref::BasicArray<T>(shape, std::vector<T>(data, data + *count));
}

std::optional<ref::Array> Reader::readOptional(const RopeBuffer *buffer,
                                               llvm::StringRef name) {
  if (!buffer)
    return std::nullopt;
  return readFloats(*buffer, name);
}

std::optional<ref::IntArray> Reader::readIntegers(const RopeBuffer *buffer,
                                                  llvm::StringRef name) {
  if (!buffer)
    return std::nullopt;
  return read<int64_t>(*buffer, name);
}

template <typename To, typename From>
To Reader::readEnum(From value, To last, llvm::StringRef name) {
  auto number = static_cast<int64_t>(value);
  if (number >= 0 && number <= static_cast<int64_t>(last))
    return static_cast<To>(number);
  if (!fault)
    fault = ("unknown " + name + " " + llvm::Twine(number)).str();
  return To();
}

std::optional<ref::RoleRotation>
Reader::readRotation(const RopeRotation *rotation, llvm::StringRef name) {
  if (!rotation)
    return std::nullopt;
  ref::RoleRotation result;
  result.table = readFloats(rotation->table, name);
  result.rotary.read =
      readEnum(rotation->read, ref::Pairing::Interleaved, "pairing");
  result.rotary.write =
      readEnum(rotation->write, ref::Pairing::Interleaved, "pairing");
  result.rotary.offset = rotation->offset;
  if (rotation->distance >= 0)
    result.rotary.distance = rotation->distance;
  result.rotary.along.assign(rotation->along,
                             rotation->along + rotation->numAlong);
  result.rotary.full = rotation->full;
  return result;
}

void Reader::readMask(const RopeBuffer *mask, ref::AttentionInputs &inputs) {
  if (!mask)
    return;
  if (mask->dtype != ROPE_BOOL) {
    inputs.maskKind = ref::MaskKind::Additive;
    inputs.mask = readFloats(*mask, "an additive mask");
    return;
  }
  ref::Shape shape(mask->shape, mask->shape + mask->rank);
  auto *data = static_cast<const uint8_t *>(mask->data);
  inputs.mask = ref::Array(
      shape, std::vector<double>(data, data + ref::getNumElements(shape)));
}

bool Reader::finish(llvm::function_ref<ref::MaybeError()> check, char **error) {
  if (!fault)
    fault = check();
  if (fault)
    setError(error, *fault);
  return !fault;
}

static RopeArray wrap(const ref::Array &array) {
  Array copy = llvm::cantFail(Array::create(DType::F64, array.getShape()));
  if (array.getNumElements())
    std::memcpy(copy.getData(), array.data(), copy.getNumBytes());
  return mlir::rope::wrap(std::move(copy));
}

RopeArray ropeReferenceTable(RopeBuffer positions, const double *frequencies,
                             int64_t pairs, double magnitude,
                             const int64_t *axes, RopeAngleMode mode,
                             char **error) {
  Reader reader;
  ref::TableInputs inputs;
  if (positions.dtype == ROPE_I64)
    inputs.positions = reader.read<int64_t>(positions, "positions");
  else
    inputs.positions = reader.readFloats(positions, "positions");
  inputs.frequencies = {{frequencies, frequencies + pairs}, magnitude};
  if (axes)
    inputs.axes.assign(axes, axes + pairs);
  inputs.mode =
      reader.readEnum(mode, ref::AngleMode::F32Quotient, "angle mode");
  if (!reader.finish([&] { return ref::findError(inputs); }, error))
    return {nullptr};
  return wrap(ref::makeTable(inputs));
}

RopeArray ropeReferenceAssemble(RopeBuffer cosBuffer, RopeBuffer sinBuffer,
                                char **error) {
  Reader reader;
  ref::Array cos = reader.readFloats(cosBuffer, "cos");
  ref::Array sin = reader.readFloats(sinBuffer, "sin");
  if (!reader.finish([&] { return ref::findAssembleError(cos, sin); }, error))
    return {nullptr};
  return wrap(ref::assemble(cos, sin));
}

RopeArray ropeReferenceCompose(RopeBuffer lhsBuffer, RopeBuffer rhsBuffer,
                               bool inverse, char **error) {
  Reader reader;
  ref::Array lhs = reader.readFloats(lhsBuffer, "the first table");
  ref::Array rhs = reader.readFloats(rhsBuffer, "the second table");
  if (!reader.finish([&] { return ref::findComposeError(lhs, rhs); }, error))
    return {nullptr};
  return wrap(ref::compose(lhs, rhs, inverse));
}

RopeArray ropeReferenceRotate(RopeBuffer buffer, const RopeRotation *rotation,
                              bool back, char **error) {
  Reader reader;
  ref::Array input = reader.readFloats(buffer, "the input");
  auto role = reader.readRotation(rotation, "the table");
  if (!reader.finish([&] { return ref::findError(input.getShape(), *role); },
                     error))
    return {nullptr};
  return wrap(back ? ref::rerotate(input, *role) : ref::rotate(input, *role));
}

static ref::AttentionInputs read(Reader &reader,
                                 const RopeAttentionInputs &inputs) {
  ref::AttentionInputs result;
  result.query = reader.readFloats(inputs.query, "query");
  result.key = reader.readFloats(inputs.key, "key");
  result.value = reader.readFloats(inputs.value, "value");
  result.scale = inputs.scale;
  reader.readMask(inputs.mask, result);
  result.queryPositions =
      reader.readIntegers(inputs.queryPositions, "query_pos");
  result.keyPositions = reader.readIntegers(inputs.keyPositions, "key_pos");
  result.keyLength = reader.readIntegers(inputs.keyLength, "key_length");
  result.sink = reader.readOptional(inputs.sink, "sink");
  result.causal = inputs.causal;
  if (inputs.windowLeft != -1 || inputs.windowRight != -1)
    result.window = ref::Window{inputs.windowLeft, inputs.windowRight};
  if (inputs.softcap != 0)
    result.softcap = inputs.softcap;
  result.rotateQuery = reader.readRotation(inputs.rotateQuery, "query's table");
  result.rotateKey = reader.readRotation(inputs.rotateKey, "key's table");
  result.rotateValue = reader.readRotation(inputs.rotateValue, "value's table");
  result.rerotateOutput =
      reader.readRotation(inputs.rerotateOutput, "output's table");
  return result;
}

bool ropeReferenceAttention(const RopeAttentionInputs *inputs,
                            RopeArray *output, RopeArray *lse, char **error) {
  Reader reader;
  ref::AttentionInputs operands = read(reader, *inputs);
  if (!reader.finish([&] { return ref::findError(operands); }, error))
    return false;
  ref::AttentionResult result = ref::attention(operands);
  *output = wrap(result.output);
  *lse = wrap(result.lse);
  return true;
}

static ref::LinearAttentionInputs
read(Reader &reader, const RopeLinearAttentionInputs &inputs) {
  ref::LinearAttentionInputs result;
  result.query = reader.readFloats(inputs.query, "query");
  result.key = reader.readFloats(inputs.key, "key");
  result.value = reader.readFloats(inputs.value, "value");
  result.featureMap =
      reader.readEnum(inputs.featureMap, ref::FeatureMap::Exp, "feature map");
  result.causal = inputs.causal;
  if (inputs.normalize)
    result.normalizerEps = inputs.normalizerEps;
  result.rotateQuery = reader.readRotation(inputs.rotateQuery, "query's table");
  result.rotateKey = reader.readRotation(inputs.rotateKey, "key's table");
  result.kvState = reader.readOptional(inputs.kvState, "kv_state");
  result.kSum = reader.readOptional(inputs.kSum, "k_sum");
  return result;
}

bool ropeReferenceLinearAttention(const RopeLinearAttentionInputs *inputs,
                                  RopeArray *output, RopeArray *kvState,
                                  RopeArray *kSum, char **error) {
  Reader reader;
  ref::LinearAttentionInputs operands = read(reader, *inputs);
  if (!reader.finish([&] { return ref::findError(operands); }, error))
    return false;
  ref::LinearAttentionResult result = ref::linearAttention(operands);
  *output = wrap(result.output);
  *kvState = wrap(result.kvState);
  *kSum = wrap(result.kSum);
  return true;
}
