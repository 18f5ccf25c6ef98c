//===- AttentionCase.h - A configuration of an attention op -----*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rope.attention, rope.online_attention or rope.linear_attention: what is
// needed to write it as MLIR text and to evaluate it by the reference. Operands
// are random numbers under their own layouts; tests may replace them.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_TEST_UNIT_SUPPORT_ATTENTIONCASE_H
#define ROPE_TEST_UNIT_SUPPORT_ATTENTIONCASE_H

#include "Support/Numbers.h"
#include "Support/Program.h"
#include "rope/Reference/Layout.h"
#include "rope/Reference/LinearAttention.h"
#include "rope/Reference/OnlineAttention.h"
#include <random>

namespace mlir::rope::test {

/// The float format of an element type such as "bf16".
reference::FloatFormat getFloatFormat(StringRef elementType);

/// An operand of the op: its letters, the type of its elements and its elements
/// under these letters. Without letters it is not there (a query or so has
/// some); `index` as letters means an index in place of a tensor.
struct OperandCase {
  OperandCase(std::optional<std::string> letters = std::nullopt,
              std::string type = "f32")
      : letters(std::move(letters)), type(std::move(type)) {}

  bool isIndex() const { return letters == "index"; }

  std::optional<std::string> letters;
  std::string type;
  reference::Array values;
  reference::IntArray integers;
};

/// The rotation of a role. `along` in `rotary` is filled in.
struct RotationCase {
  RotationCase(std::string letters, int64_t pairs,
               reference::Rotary rotary = {}, std::string type = "f32")
      : letters(std::move(letters)), pairs(pairs), rotary(std::move(rotary)),
        type(std::move(type)) {}

  /// The letters of the table's leading dims, such as "bm".
  std::string letters;
  int64_t pairs;
  reference::Rotary rotary;
  std::string type;
  /// [lead…, 2, W]
  reference::Array table;
};

enum class AttentionKind { Softmax, Online, Linear };

struct AttentionCase {
  AttentionKind kind = AttentionKind::Softmax;
  int64_t b = 2, h = 2, g = 3, m = 5, n = 7, d = 4, e = 6;
  /// All extents but those of rotated channels and of `1` are `?` in types.
  bool dynamic = false;
  /// But for the last dims of operands, which are channels.
  bool staticChannels = false;
  /// Memrefs in place of tensors.
  bool memrefs = false;
  /// Compile to plain loops, which takes much less time than tiles and vectors.
  bool portable = true;
  /// More options of rope-cpu-pipeline, such as "lanes=8".
  std::string pipelineOptions;
  /// The numbers of a #rope.cpu_plan that the op has, such as "group = 2".
  std::string plan;
  /// Passes on the module that run before rope-cpu-pipeline, such as
  /// "rope-tile{sizes=m:2}".
  std::string passes;
  /// Write the layout, else rely on the defaults.
  bool writeLayout = true;

  OperandCase query = {"b(hg)md"}, key = {"bhnd"}, value = {"bhne"};
  OperandCase mask = {std::nullopt, "i1"}, queryPos = {std::nullopt, "i64"},
              keyPos = {std::nullopt, "i64"}, keyLength = {std::nullopt, "i64"},
              sink;
  OperandCase output = {"b(hg)me"};
  /// The lse; the maximum of the online form.
  OperandCase lse;
  OperandCase sum, kvState, kSum;

  double scale = 0.5;
  bool causal = false;
  std::optional<reference::Window> window;
  std::optional<double> softcap;
  reference::FeatureMap featureMap = reference::FeatureMap::EluPlusOne;
  std::optional<double> normalizerEps;
  std::optional<RotationCase> rotateQuery, rotateKey, rotateValue,
      rerotateOutput;

  /// Fills operands with random numbers in [−1, 1], boolean masks with one hole
  /// in three, float masks with −inf there, positions and lengths with numbers
  /// in the extents.
  void randomize(uint64_t seed);

  /// Values of the op's inits before it: garbage for those that are not read.
  /// `randomize` fills them.
  std::vector<reference::Array> inits;

  /// The letters and the extents that they have.
  reference::Extents getExtents() const;

  /// The extents of an operand, under its letters.
  reference::Shape getShape(const OperandCase &operand) const;

  /// The text of a module with one function of all operands, then the inits.
  std::string getText() const;

  /// What the compiled op returns (or, with memrefs, has written), under
  /// canonical dims: one array for each init.
  std::vector<reference::Array> run() const;

  /// What the reference returns, likewise.
  std::vector<reference::Array> evaluate() const;

  reference::AttentionInputs getAttentionInputs() const;
  reference::LinearAttentionInputs getLinearInputs() const;

  /// The inits in their order.
  std::vector<const OperandCase *> getInits() const;

  /// The type of scores and sums: f64 if query, key, value or a carried state
  /// is, else f32.
  std::string getComputeType() const;

  /// The canonical letters of an init.
  std::string getCanonicalLetters(const OperandCase &init) const;

private:
  std::vector<std::pair<std::string, const OperandCase *>> getInputs() const;
  std::vector<std::pair<std::string, const RotationCase *>> getTables() const;
  const OperandCase &getRotated(const RotationCase &rotation) const;
};

/// What is wrong with results of an element type, or nothing. The bounds, for
/// operands in [−1, 1]: f64 1e-13; f32 5e-7; bf16 and f16 1.05 units in the
/// last place of the exact value rounded once, or 5e-7 where values cancel.
/// Bounds are absolute, or multiples of `size` for sums whose terms are that
/// large. Equal infinities and two NaNs are close.
reference::MaybeError compare(const reference::Array &values,
                              const reference::Array &exact,
                              llvm::StringRef elementType, double size = 1.0);

/// Runs the op and compares all results with the reference's: what is wrong
/// with which result, or nothing. Carried states are as large as they are.
reference::MaybeError check(const AttentionCase &attention);

} // namespace mlir::rope::test

#endif // ROPE_TEST_UNIT_SUPPORT_ATTENTIONCASE_H
