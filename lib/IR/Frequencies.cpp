//===- Frequencies.cpp - Schedules of rotation frequencies ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frequency attributes: constant frequencies in f64, and IR for those that
// depend on a length known only at run time. Formulas stand in RopeAttrs.td.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/IR/Rope.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::rope;

/// θ^(−2i/d) for each pair i, d = 2·pairs.
static SmallVector<double> getGeometric(double theta, int64_t pairs) {
  SmallVector<double> result(pairs);
  for (auto [i, w] : llvm::enumerate(result))
    w = std::pow(theta, -static_cast<double>(i) / pairs);
  return result;
}

/// The exponent d/(d − 2) by which NTK scales θ.
static double getNTKExponent(int64_t pairs) {
  return static_cast<double>(pairs) / (pairs - 1);
}

/// θ' of NTK.
static double getScaledTheta(NTKAttr ntk, int64_t pairs) {
  return ntk.getTheta().getValueAsDouble() *
         std::pow(ntk.getFactor().getValueAsDouble(), getNTKExponent(pairs));
}

static double valueOr(FloatAttr attr, double otherwise) {
  return attr ? attr.getValueAsDouble() : otherwise;
}

/// The factor of cos and sin in YaRN: as given, or from the factor of lengths.
static double getYarnMagnitude(FloatAttr factor, FloatAttr magnitude,
                               FloatAttr mscale, FloatAttr mscaleAllDim) {
  if (magnitude)
    return magnitude.getValueAsDouble();
  double f = factor.getValueAsDouble();
  auto g = [&](double scale) {
    return f > 1 ? 0.1 * scale * std::log(f) + 1 : 1.0;
  };
  if (mscale)
    return g(mscale.getValueAsDouble()) / g(mscaleAllDim.getValueAsDouble());
  return g(1);
}

//===----------------------------------------------------------------------===//
// Verification of parameters
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

/// A normal number: its reciprocal is one too, so no frequency is infinite.
static LogicalResult verifyPositive(EmitError emitError, StringRef name,
                                    double value) {
  if (std::isnormal(value) && value > 0)
    return success();
  return emitError() << name << " must be positive and a normal f64, got "
                     << value;
}

static LogicalResult verifyPositive(EmitError emitError, StringRef name,
                                    FloatAttr value) {
  if (!value)
    return success();
  if (!value.getType().isF64())
    return emitError() << name << " must be an f64";
  return verifyPositive(emitError, name, value.getValueAsDouble());
}

/// Lengths are computed with in f64, which holds integers to 2^53.
static LogicalResult verifyTrained(EmitError emitError, int64_t trained) {
  if (trained > 0 && trained <= int64_t(1) << 53)
    return success();
  return emitError() << "trained must be positive and at most 2^53, got "
                     << trained;
}

/// A base of 1 makes every pair turn alike, and its logarithm 0.
static LogicalResult verifyTheta(EmitError emitError, FloatAttr theta) {
  if (failed(verifyPositive(emitError, "theta", theta)))
    return failure();
  if (theta.getValueAsDouble() <= 1)
    return emitError() << "theta must be over 1";
  return success();
}

static LogicalResult verifyFinite(EmitError emitError, StringRef name,
                                  ArrayRef<double> values) {
  if (llvm::all_of(values, [](double v) { return std::isfinite(v); }))
    return success();
  return emitError() << name << " must be finite";
}

static LogicalResult verifyCount(EmitError emitError, StringRef name,
                                 int64_t count, int64_t pairs) {
  if (count == pairs)
    return success();
  return emitError() << name << " has " << count << " entries for " << pairs
                     << " pairs";
}

static LogicalResult verifyMoreThanOnePair(EmitError emitError, int64_t pairs) {
  if (pairs > 1)
    return success();
  return emitError() << "NTK scaling needs more than one pair";
}

LogicalResult DefaultAttr::verify(EmitError emitError, FloatAttr theta) {
  return verifyTheta(emitError, theta);
}

LogicalResult LinearAttr::verify(EmitError emitError, FloatAttr theta,
                                 FloatAttr factor) {
  return success(succeeded(verifyTheta(emitError, theta)) &&
                 succeeded(verifyPositive(emitError, "factor", factor)));
}

LogicalResult NTKAttr::verify(EmitError emitError, FloatAttr theta,
                              FloatAttr factor) {
  return LinearAttr::verify(emitError, theta, factor);
}

LogicalResult DynamicNTKAttr::verify(EmitError emitError, FloatAttr theta,
                                     FloatAttr factor, int64_t trained) {
  return success(succeeded(LinearAttr::verify(emitError, theta, factor)) &&
                 succeeded(verifyTrained(emitError, trained)));
}

LogicalResult YarnAttr::verify(EmitError emitError, FloatAttr theta,
                               FloatAttr factor, int64_t trained,
                               FloatAttr betaFast, FloatAttr betaSlow, BoolAttr,
                               FloatAttr magnitude, FloatAttr mscale,
                               FloatAttr mscaleAllDim) {
  if (failed(DynamicNTKAttr::verify(emitError, theta, factor, trained)) ||
      failed(verifyPositive(emitError, "beta_fast", betaFast)) ||
      failed(verifyPositive(emitError, "beta_slow", betaSlow)) ||
      failed(verifyPositive(emitError, "magnitude", magnitude)) ||
      failed(verifyPositive(emitError, "mscale", mscale)) ||
      failed(verifyPositive(emitError, "mscale_all_dim", mscaleAllDim)))
    return failure();
  if (static_cast<bool>(mscale) != static_cast<bool>(mscaleAllDim))
    return emitError() << "mscale and mscale_all_dim go together";
  for (auto [name, beta] :
       {std::pair("beta_fast", betaFast), {"beta_slow", betaSlow}})
    if (!std::isfinite(std::log(trained / (valueOr(beta, 1) * 2 * M_PI))))
      return emitError() << name << " is out of range";
  double computed = getYarnMagnitude(factor, magnitude, mscale, mscaleAllDim);
  return verifyPositive(emitError, "magnitude", computed);
}

LogicalResult Llama3Attr::verify(EmitError emitError, FloatAttr theta,
                                 FloatAttr factor, FloatAttr low,
                                 FloatAttr high, int64_t trained) {
  if (failed(DynamicNTKAttr::verify(emitError, theta, factor, trained)) ||
      failed(verifyPositive(emitError, "low", low)) ||
      failed(verifyPositive(emitError, "high", high)))
    return failure();
  if (low.getValueAsDouble() >= high.getValueAsDouble())
    return emitError() << "low must be less than high";
  return success();
}

LogicalResult LongRopeAttr::verify(EmitError emitError, FloatAttr theta,
                                   DenseF64ArrayAttr shortFactors,
                                   DenseF64ArrayAttr longFactors,
                                   int64_t trained, FloatAttr magnitude) {
  if (failed(verifyTheta(emitError, theta)) ||
      failed(verifyTrained(emitError, trained)) ||
      failed(verifyPositive(emitError, "magnitude", magnitude)))
    return failure();
  for (DenseF64ArrayAttr factors : {shortFactors, longFactors})
    for (double factor : factors.asArrayRef())
      if (failed(verifyPositive(emitError, "factors", factor)))
        return failure();
  return success();
}

LogicalResult ProportionalAttr::verify(EmitError emitError, FloatAttr theta,
                                       FloatAttr share) {
  if (failed(verifyTheta(emitError, theta)) ||
      failed(verifyPositive(emitError, "share", share)))
    return failure();
  if (share.getValueAsDouble() > 1)
    return emitError() << "share must be at most 1";
  return success();
}

LogicalResult ExplicitAttr::verify(EmitError emitError,
                                   DenseF64ArrayAttr frequencies,
                                   FloatAttr magnitude) {
  return success(
      succeeded(verifyFinite(emitError, "frequencies", frequencies)) &&
      succeeded(verifyPositive(emitError, "magnitude", magnitude)));
}

LogicalResult NTKAttr::verifyPairs(int64_t pairs, EmitError emitError) const {
  if (failed(verifyMoreThanOnePair(emitError, pairs)))
    return failure();
  if (std::isnormal(getScaledTheta(*this, pairs)))
    return success();
  return emitError() << "theta scaled by the factor is not a normal f64";
}

LogicalResult DynamicNTKAttr::verifyPairs(int64_t pairs,
                                          EmitError emitError) const {
  return verifyMoreThanOnePair(emitError, pairs);
}

LogicalResult LongRopeAttr::verifyPairs(int64_t pairs,
                                        EmitError emitError) const {
  return success(succeeded(verifyCount(emitError, "short_factors",
                                       getShortFactors().size(), pairs)) &&
                 succeeded(verifyCount(emitError, "long_factors",
                                       getLongFactors().size(), pairs)));
}

LogicalResult ExplicitAttr::verifyPairs(int64_t pairs,
                                        EmitError emitError) const {
  return verifyCount(emitError, "frequencies", getFrequencies().size(), pairs);
}

//===----------------------------------------------------------------------===//
// Constant frequencies
//===----------------------------------------------------------------------===//

using Length = std::optional<int64_t>;

SmallVector<double> DefaultAttr::computeFrequencies(int64_t pairs,
                                                    Length) const {
  return getGeometric(getTheta().getValueAsDouble(), pairs);
}

SmallVector<double> LinearAttr::computeFrequencies(int64_t pairs,
                                                   Length) const {
  SmallVector<double> w = getGeometric(getTheta().getValueAsDouble(), pairs);
  for (double &wi : w)
    wi /= getFactor().getValueAsDouble();
  return w;
}

SmallVector<double> NTKAttr::computeFrequencies(int64_t pairs, Length) const {
  return getGeometric(getScaledTheta(*this, pairs), pairs);
}

SmallVector<double> DynamicNTKAttr::computeFrequencies(int64_t pairs,
                                                       Length length) const {
  double factor = getFactor().getValueAsDouble();
  double current = length.value_or(getTrained());
  // Lengths up to the trained one scale θ by 1.
  double ratio = std::max(factor * current / getTrained() - (factor - 1), 1.0);
  double scale = std::pow(ratio, getNTKExponent(pairs));
  return getGeometric(getTheta().getValueAsDouble() * scale, pairs);
}

SmallVector<double> YarnAttr::computeFrequencies(int64_t pairs, Length) const {
  double d = 2.0 * pairs, theta = getTheta().getValueAsDouble();
  double factor = getFactor().getValueAsDouble();
  auto dimOf = [&](double beta) {
    return d * std::log(getTrained() / (beta * 2 * M_PI)) /
           (2 * std::log(theta));
  };
  double low = dimOf(valueOr(getBetaFast(), 32));
  double high = dimOf(valueOr(getBetaSlow(), 1));
  if (!getTruncate() || getTruncate().getValue()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, d - 1);
  if (low == high)
    high += 0.001;
  SmallVector<double> w = getGeometric(theta, pairs);
  for (auto [i, wi] : llvm::enumerate(w)) {
    double ramp = std::clamp((i - low) / (high - low), 0.0, 1.0);
    wi = wi / factor * ramp + wi * (1 - ramp);
  }
  return w;
}

SmallVector<double> Llama3Attr::computeFrequencies(int64_t pairs,
                                                   Length) const {
  double factor = getFactor().getValueAsDouble();
  double low = getLow().getValueAsDouble(), high = getHigh().getValueAsDouble();
  SmallVector<double> w = getGeometric(getTheta().getValueAsDouble(), pairs);
  for (double &wi : w) {
    double wavelength = 2 * M_PI / wi;
    double smooth = (getTrained() / wavelength - low) / (high - low);
    smooth = std::clamp(smooth, 0.0, 1.0);
    wi = (1 - smooth) * wi / factor + smooth * wi;
  }
  return w;
}

SmallVector<double> LongRopeAttr::computeFrequencies(int64_t pairs,
                                                     Length length) const {
  bool isLong = length.value_or(0) > getTrained();
  ArrayRef<double> factors = isLong ? getLongFactors() : getShortFactors();
  SmallVector<double> w = getGeometric(getTheta().getValueAsDouble(), pairs);
  for (auto [wi, factor] : llvm::zip_equal(w, factors))
    wi /= factor;
  return w;
}

SmallVector<double> ProportionalAttr::computeFrequencies(int64_t pairs,
                                                         Length) const {
  auto turning =
      static_cast<int64_t>(std::floor(getShare().getValueAsDouble() * pairs));
  SmallVector<double> w = getGeometric(getTheta().getValueAsDouble(), pairs);
  std::fill(w.begin() + turning, w.end(), 0.0);
  return w;
}

SmallVector<double> ExplicitAttr::computeFrequencies(int64_t, Length) const {
  return SmallVector<double>(getFrequencies().asArrayRef());
}

double LongRopeAttr::computeMagnitude() const {
  return valueOr(getMagnitude(), 1);
}

double ExplicitAttr::computeMagnitude() const {
  return valueOr(getMagnitude(), 1);
}

double YarnAttr::computeMagnitude() const {
  return getYarnMagnitude(getFactor(), getMagnitude(), getMscale(),
                          getMscaleAllDim());
}

//===----------------------------------------------------------------------===//
// Frequencies of a length known at run time
//===----------------------------------------------------------------------===//

bool DynamicNTKAttr::dependsOnLength() const { return true; }

bool LongRopeAttr::dependsOnLength() const { return true; }

static Value createConstants(OpBuilder &builder, Location loc,
                             ArrayRef<double> values) {
  auto type = RankedTensorType::get(values.size(), builder.getF64Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, values));
}

static Value createConstant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(value));
}

Value DynamicNTKAttr::buildFrequencies(OpBuilder &builder, Location loc,
                                       Value length, int64_t pairs) const {
  double factor = getFactor().getValueAsDouble();
  Value current =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), length);
  current =
      arith::SIToFPOp::create(builder, loc, builder.getF64Type(), current);
  Value ratio = arith::MulFOp::create(
      builder, loc, current,
      createConstant(builder, loc, factor / getTrained()));
  ratio = arith::SubFOp::create(builder, loc, ratio,
                                createConstant(builder, loc, factor - 1));
  ratio = arith::MaximumFOp::create(builder, loc, ratio,
                                    createConstant(builder, loc, 1));
  Value scale = math::PowFOp::create(
      builder, loc, ratio, createConstant(builder, loc, getNTKExponent(pairs)));
  Value theta = arith::MulFOp::create(
      builder, loc, scale,
      createConstant(builder, loc, getTheta().getValueAsDouble()));
  SmallVector<double> exponents(pairs);
  for (auto [i, exponent] : llvm::enumerate(exponents))
    exponent = -static_cast<double>(i) / pairs;
  auto type = RankedTensorType::get(pairs, builder.getF64Type());
  Value base = tensor::SplatOp::create(builder, loc, theta, type);
  return math::PowFOp::create(builder, loc, base,
                              createConstants(builder, loc, exponents));
}

Value LongRopeAttr::buildFrequencies(OpBuilder &builder, Location loc,
                                     Value length, int64_t pairs) const {
  Value trained =
      arith::ConstantIndexOp::create(builder, loc, getTrained()).getResult();
  Value isLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                       length, trained);
  Value whenLong = createConstants(builder, loc,
                                   computeFrequencies(pairs, getTrained() + 1));
  Value whenShort =
      createConstants(builder, loc, computeFrequencies(pairs, getTrained()));
  return arith::SelectOp::create(builder, loc, isLong, whenLong, whenShort);
}
