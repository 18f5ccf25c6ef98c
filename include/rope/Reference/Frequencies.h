//===- Frequencies.h - Frequency schedules ----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frequency ω_i of each channel pair, in radians per token, and the
// magnitude a that multiplies cos and sin, for each schedule of the dialect. P
// is the number of pairs, d = 2P the number of turning channels, i = 0 … P − 1.
//
// The formulas are evaluated in long double and rounded once to f64. Where long
// double is the 80-bit format or wider the result is the nearest f64 but for
// rare near ties (error below 0.51 units in the last place).
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_FREQUENCIES_H
#define ROPE_REFERENCE_FREQUENCIES_H

#include "rope/Reference/Array.h"

namespace mlir::rope::reference {

/// What a schedule yields.
struct Frequencies {
  /// ω_i in radians per token, one per pair.
  std::vector<double> values;
  /// a, the factor of cos and sin.
  double magnitude = 1.0;

  int64_t getNumPairs() const { return static_cast<int64_t>(values.size()); }
};

/// ω_i = θ^(−2i/d), a = 1 (Su et al., RoFormer).
struct DefaultSchedule {
  double theta = 10000.0;
};

/// ω_i = θ^(−2i/d) / f: position interpolation.
struct LinearSchedule {
  double theta = 10000.0;
  double factor = 1.0;
};

/// ω_i = θ'^(−2i/d) with θ' = θ · f^(d/(d−2)). With one pair ω_0 = 1, whatever
/// the base is.
struct NtkSchedule {
  double theta = 10000.0;
  double factor = 1.0;
};

/// As NTK with θ' = θ · (f · L/L0 − (f − 1))^(d/(d−2)) and L = max(length, L0).
struct DynamicNtkSchedule {
  double theta = 10000.0;
  double factor = 1.0;
  /// L0 in tokens.
  int64_t trainedLength = 0;
  /// The current sequence length in tokens.
  int64_t length = 0;
};

/// YaRN (Peng et al.), as in Hugging Face transformers.
///
/// With w_i = θ^(−2i/d) and dim(β) = d · ln(L0 / (2πβ)) / (2 ln θ):
///   low = max(dim(β_fast), 0), high = min(dim(β_slow), d − 1), after rounding
///   the first down and the second up if `truncate`; high += 0.001 when equal,
///   γ_i = 1 − clamp((i − low) / (high − low), 0, 1),
///   ω_i = (w_i / f)(1 − γ_i) + w_i γ_i.
///
/// With g(μ) = f ≤ 1 ? 1 : 0.1 μ ln f + 1, the magnitude is `attentionFactor`
/// if given, else g(mscale) / g(mscaleAllDim) if both are given and not zero,
/// else g(1). The factor g² which DeepSeek puts into the softmax scale is the
/// caller's.
struct YarnSchedule {
  double theta = 10000.0;
  double factor = 1.0;
  /// L0 in tokens.
  int64_t trainedLength = 0;
  double betaFast = 32.0;
  double betaSlow = 1.0;
  bool truncate = true;
  std::optional<double> attentionFactor;
  std::optional<double> mscale;
  std::optional<double> mscaleAllDim;
};

/// Llama 3.1. With w_i = θ^(−2i/d) and the wavelength λ_i = 2π / w_i:
///   λ_i < L0 / high: ω_i = w_i,   λ_i > L0 / low: ω_i = w_i / f,
///   between: s = (L0 / λ_i − low) / (high − low), ω_i = (1 − s) w_i / f + s
///   w_i.
struct Llama3Schedule {
  double theta = 500000.0;
  double factor = 8.0;
  double lowFactor = 1.0;
  double highFactor = 4.0;
  /// L0 in tokens.
  int64_t trainedLength = 8192;
};

/// LongRoPE (Phi-3): ω_i = 1 / (e_i · θ^(2i/d)), where e is the long list if
/// length > L0, else the short one. The magnitude is given, or
/// f ≤ 1 ? 1 : √(1 + ln f / ln L0).
struct LongropeSchedule {
  double theta = 10000.0;
  /// e_i of the short regime, one per pair.
  std::vector<double> shortFactors;
  /// e_i of the long regime, one per pair.
  std::vector<double> longFactors;
  /// L0 in tokens.
  int64_t trainedLength = 0;
  /// The current sequence length in tokens.
  int64_t length = 0;
  /// f, the ratio of the longest length to L0; used when no magnitude is given.
  double factor = 1.0;
  std::optional<double> magnitude;
};

/// Only the share p of D = 2P channels turns (Gemma): ω_i = θ^(−2i/D) for
/// i < ⌊p · D / 2⌋, and 0 for the other pairs.
struct ProportionalSchedule {
  double theta = 10000.0;
  /// p in [0, 1].
  double share = 1.0;
};

/// Evaluates a schedule for so many pairs. Aborts if `findError` has a message.
Frequencies getFrequencies(const DefaultSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const LinearSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const NtkSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const DynamicNtkSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const YarnSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const Llama3Schedule &schedule, int64_t pairs);
Frequencies getFrequencies(const LongropeSchedule &schedule, int64_t pairs);
Frequencies getFrequencies(const ProportionalSchedule &schedule, int64_t pairs);

/// Why a schedule has no frequencies for so many pairs, or nothing: a base,
/// factor or length which is not positive and finite, bounds out of order,
/// lists of the wrong size, a negative number of pairs.
MaybeError findError(const DefaultSchedule &schedule, int64_t pairs);
MaybeError findError(const LinearSchedule &schedule, int64_t pairs);
MaybeError findError(const NtkSchedule &schedule, int64_t pairs);
MaybeError findError(const DynamicNtkSchedule &schedule, int64_t pairs);
MaybeError findError(const YarnSchedule &schedule, int64_t pairs);
MaybeError findError(const Llama3Schedule &schedule, int64_t pairs);
MaybeError findError(const LongropeSchedule &schedule, int64_t pairs);
MaybeError findError(const ProportionalSchedule &schedule, int64_t pairs);

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_FREQUENCIES_H
