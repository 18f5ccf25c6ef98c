//===- AttentionText.cpp - The text of an attention op --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the function of an AttentionCase.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;
using mlir::rope::reference::Shape;

namespace {
/// Writes the function of a case.
class TextWriter {
public:
  explicit TextWriter(const AttentionCase &attention)
      : attention(attention), os(text) {}

  /// The type of an operand. Channels of a rotated one stay static.
  std::string getType(const OperandCase &operand, bool isRotated) const;
  std::string getTableType(const RotationCase &rotation) const;
  void writeRotary(const RotationCase &rotation, const OperandCase &operand);
  void writeOptions();
  void writeLayout();
  /// Returns that many results, if there are any, and ends the function.
  void writeReturn(size_t count, llvm::StringRef types);

  const AttentionCase &attention;
  std::string text;
  llvm::raw_string_ostream os;
};
} // namespace

/// The letters of each dim of an operand.
static std::vector<std::string> splitDims(llvm::StringRef letters) {
  std::vector<std::string> dims;
  while (!letters.empty()) {
    if (letters.consume_front("(")) {
      auto [group, rest] = letters.split(')');
      dims.push_back(group.str());
      letters = rest;
    } else {
      dims.push_back(letters.take_front().str());
      letters = letters.drop_front();
    }
  }
  return dims;
}

std::string TextWriter::getType(const OperandCase &operand,
                                bool isRotated) const {
  if (operand.isIndex())
    return "index";
  std::string type = attention.memrefs ? "memref<" : "tensor<";
  std::vector<std::string> dims = splitDims(*operand.letters);
  Shape shape = attention.getShape(operand);
  for (size_t i = 0; i < shape.size(); ++i) {
    bool isChannel =
        (isRotated || attention.staticChannels) && i + 1 == shape.size();
    bool isDynamic = attention.dynamic && !isChannel && dims[i] != "1";
    type += (isDynamic ? "?" : std::to_string(shape[i])) + "x";
  }
  return type + operand.type + ">";
}

std::string TextWriter::getTableType(const RotationCase &rotation) const {
  std::string type = attention.memrefs ? "memref<" : "tensor<";
  const Shape &shape = rotation.table.getShape();
  for (size_t i = 0; i < shape.size(); ++i)
    type +=
        (attention.dynamic && i + 2 < shape.size() ? "?"
                                                   : std::to_string(shape[i])) +
        "x";
  return type + rotation.type + ">";
}

static const char *getName(reference::Pairing pairing) {
  return pairing == reference::Pairing::Half ? "half" : "interleaved";
}

void TextWriter::writeRotary(const RotationCase &rotation,
                             const OperandCase &operand) {
  os << " <" << getName(rotation.rotary.read);
  if (rotation.rotary.write)
    os << " to " << getName(*rotation.rotary.write);
  if (rotation.rotary.offset)
    os << " offset = " << rotation.rotary.offset;
  if (rotation.rotary.distance)
    os << " distance = " << *rotation.rotary.distance;
  std::vector<std::string> dims = splitDims(*operand.letters);
  os << " along [";
  llvm::interleaveComma(splitDims(rotation.letters), os,
                        [&](const std::string &letter) {
                          os << llvm::find(dims, letter) - dims.begin();
                        });
  os << "]" << (rotation.rotary.full ? " full = true>" : ">");
}

void TextWriter::writeLayout() {
  std::vector<std::pair<std::string, const OperandCase *>> operands = {
      {"query", &attention.query},      {"key", &attention.key},
      {"value", &attention.value},      {"output", &attention.output},
      {"mask", &attention.mask},        {"query_pos", &attention.queryPos},
      {"key_pos", &attention.keyPos},   {"key_length", &attention.keyLength},
      {"sink", &attention.sink},        {"lse", &attention.lse},
      {"kv_state", &attention.kvState}, {"k_sum", &attention.kSum}};
  operands.erase(std::remove_if(operands.begin(), operands.end(),
                                [](auto &operand) {
                                  return !operand.second->letters ||
                                         operand.second->isIndex();
                                }),
                 operands.end());
  os << " layout <";
  llvm::interleaveComma(operands, os, [&](auto &operand) {
    os << operand.first << " = \"" << *operand.second->letters << '"';
  });
  os << ">";
}

void TextWriter::writeOptions() {
  constexpr const char *features[] = {"identity", "elu_plus_one", "relu",
                                      "exp"};
  if (attention.kind == AttentionKind::Linear)
    os << " feature_map " << features[static_cast<int>(attention.featureMap)];
  else
    os << " scale " << llvm::format("%.17e", attention.scale);
  if (attention.causal)
    os << " causal";
  if (attention.window)
    os << " window [" << attention.window->left << ", "
       << attention.window->right << "]";
  if (attention.softcap)
    os << " softcap " << llvm::format("%.17e", *attention.softcap);
  if (attention.normalizerEps)
    os << " normalizer_eps " << llvm::format("%.17e", *attention.normalizerEps);
  if (attention.writeLayout)
    writeLayout();
}

void TextWriter::writeReturn(size_t count, llvm::StringRef types) {
  os << "\n  return";
  for (size_t i = 0; !attention.memrefs && i < count; ++i)
    os << (i ? ", %r#" : " %r#") << i;
  if (!attention.memrefs)
    os << " : " << types;
  os << "\n}\n";
}

static llvm::StringRef getOpName(AttentionKind kind) {
  switch (kind) {
  case AttentionKind::Softmax:
    return "attention";
  case AttentionKind::Online:
    return "online_attention";
  case AttentionKind::Linear:
    return "linear_attention";
  }
  llvm_unreachable("unknown kind");
}

std::string AttentionCase::getText() const {
  TextWriter writer(*this);
  llvm::raw_ostream &os = writer.os;
  auto isRotated = [&](const OperandCase *operand) {
    for (const auto &[name, rotation] : getTables())
      if (&getRotated(*rotation) == operand)
        return true;
    return false;
  };
  std::vector<std::string> arguments, initNames, initTypes;
  std::map<std::string, std::string> types;
  for (const auto &[name, operand] : getInputs()) {
    types[name] = writer.getType(*operand, isRotated(operand));
    arguments.push_back("%" + name + ": " + types[name]);
  }
  for (const auto &[name, rotation] : getTables())
    arguments.push_back("%" + name + ": " + writer.getTableType(*rotation));
  for (auto [i, init] : llvm::enumerate(getInits())) {
    initNames.push_back("%init" + std::to_string(i));
    initTypes.push_back(writer.getType(*init, isRotated(init)));
    arguments.push_back(initNames.back() + ": " + initTypes.back());
  }
  std::string resultTypes = llvm::join(initTypes, ", ");
  os << "func.func @f(" << llvm::join(arguments, ", ") << ")";
  if (!memrefs)
    os << " -> (" << resultTypes << ")";
  os << " {\n  ";
  if (!memrefs)
    os << "%r:" << initNames.size() << " = ";
  os << "rope." << getOpName(kind)
     << " ins(%query, %key, %value : " << types["query"] << ", " << types["key"]
     << ", " << types["value"] << ")";
  auto inputs = getInputs();
  for (const auto &[name, operand] : llvm::drop_begin(inputs, 3))
    os << " " << name << "(%" << name << " : " << types[name] << ")";
  for (const auto &[name, rotation] : getTables()) {
    os << " " << name << "(%" << name << " : " << writer.getTableType(*rotation)
       << ")";
    writer.writeRotary(*rotation, getRotated(*rotation));
  }
  os << " outs(" << llvm::join(initNames, ", ") << " : " << resultTypes << ")";
  writer.writeOptions();
  if (!plan.empty())
    os << " {rope.plan = #rope.cpu_plan<" << plan << ">}";
  if (!memrefs)
    os << " -> " << resultTypes;
  writer.writeReturn(initNames.size(), resultTypes);
  return writer.text;
}
