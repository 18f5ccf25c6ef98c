//===- FeatureMaps.cpp - What linear attention does to channels -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/IR/FeatureMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rope;

Value rope::buildFeature(OpBuilder &builder, Location loc, FeatureMap map,
                         Value x) {
  auto constant = [&](double value) -> Value {
    Type type = x.getType();
    TypedAttr number = builder.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      number = DenseElementsAttr::get(vector, Attribute(number));
    return arith::ConstantOp::create(builder, loc, number);
  };
  switch (map) {
  case FeatureMap::Identity:
    return x;
  case FeatureMap::EluPlusOne: {
    Value isPositive = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OGT, x, constant(0.0));
    Value shifted = arith::AddFOp::create(builder, loc, x, constant(1.0));
    return arith::SelectOp::create(builder, loc, isPositive, shifted,
                                   math::ExpOp::create(builder, loc, x));
  }
  case FeatureMap::Relu:
    return arith::MaximumFOp::create(builder, loc, x, constant(0.0));
  case FeatureMap::Exp:
    return math::ExpOp::create(builder, loc, x);
  }
  llvm_unreachable("unknown feature map");
}
