//===- Angle.h - Angles of rotations, reduced ------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for an angle, its reduction by quarter turns, and cos and sin of what
// is left. No angle is rounded before it is reduced, save where the angle mode
// says so.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_IR_DECOMPOSITION_ANGLE_H
#define ROPE_LIB_IR_DECOMPOSITION_ANGLE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rope::detail {

/// An unevaluated sum of two f64.
struct SplitDouble {
  double high, low;
};

/// ω/2π·2^64 modulo 2^64, rounded to nearest: the fixed-point turns of one
/// token, for any finite ω (radians per token).
uint64_t getFixedPointTurns(double frequency);

/// ω·2/π: the quarter turns of one token, to about 2^-105 of it.
SplitDouble getQuarterTurns(double frequency);

/// An angle of quarter·π/2 + rest.
struct ReducedAngle {
  Value quarter; ///< i32; only its last two bits count.
  Value rest;    ///< f64, |rest| ≤ π/4 and a little, in radians.
};

/// Code for the angle of an i64 position and fixed-point turns per token. Off
/// by p·2^-65 + 2^-34 turns, 1e-9 radians for |p| ≤ 2^31.
ReducedAngle createFixedPointAngle(ImplicitLocOpBuilder &builder,
                                   Value position, Value turns);

/// Code for the angle of an f64 position and quarter turns per token, split in
/// two f64. Off by about p·ω·2^-105 + 2^-53, for fewer than 2^50 quarters.
ReducedAngle createProductAngle(ImplicitLocOpBuilder &builder, Value position,
                                Value high, Value low);

/// Code for an angle that was computed before, an f64 that holds an f32
/// (radians). Off by 2^-53, for angles below 2^50.
ReducedAngle createGivenAngle(ImplicitLocOpBuilder &builder, Value angle);

/// Code for cos and sin in `type`: f32, off by 1.0e-7, or f64, off by 2e-16.
std::pair<Value, Value> createCosSin(ImplicitLocOpBuilder &builder,
                                     ReducedAngle angle, FloatType type);

/// Code for the fixed-point turns of an f64 frequency.
Value createFixedPointTurns(ImplicitLocOpBuilder &builder, Value frequency);

/// Code for the quarter turns of an f64 frequency, high part and low part.
std::pair<Value, Value> createQuarterTurns(ImplicitLocOpBuilder &builder,
                                           Value frequency);

/// A float constant.
Value createFloat(ImplicitLocOpBuilder &builder, Type type, double value);

} // namespace mlir::rope::detail

#endif // ROPE_LIB_IR_DECOMPOSITION_ANGLE_H
