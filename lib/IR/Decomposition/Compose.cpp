//===- Compose.cpp - Decomposition of rope.assemble and rope.compose ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables made of other tables, plane by plane.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "rope/IR/Rope.h"

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::detail;

/// The cosines and the sines of a table.
static std::pair<Slice, Slice> getPlanes(ImplicitLocOpBuilder &builder,
                                         Value table) {
  int64_t rank = cast<ShapedType>(table.getType()).getRank();
  Slice whole(builder, table);
  return {Slice(whole).at(rank - 2, 0), Slice(whole).at(rank - 2, 1)};
}

/// Computes both planes of `op`'s init from inputs of the shape of a plane.
template <typename OpTy>
static FailureOr<SmallVector<Value>>
createPlanes(OpTy op, ImplicitLocOpBuilder &builder, ValueRange inputs,
             ElementBuilder body) {
  Value init = op.getInit();
  int64_t rank = cast<ShapedType>(init.getType()).getRank() - 1;
  auto [cos, sin] = getPlanes(builder, init);
  SmallVector<Value> outputs = {cos.extract(builder, init),
                                sin.extract(builder, init)};
  SmallVector<AffineMap> maps(inputs.size() + 2,
                              builder.getMultiDimIdentityMap(rank));
  SmallVector<Value> planes =
      createElementwise(builder, inputs, outputs, maps, body);
  if (!op.hasPureTensorSemantics())
    return SmallVector<Value>();
  Value result = cos.insert(builder, planes[0], init);
  return SmallVector<Value>{sin.insert(builder, planes[1], result)};
}

FailureOr<SmallVector<Value>>
AssembleOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(*this))
    return getInitsAsResults(*this);
  if (!hasPureTensorSemantics() &&
      !canWriteWhileReading(*this, /*inPlace=*/false))
    return failure();
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type element = getElementTypeOrSelf(getInit());
  return createPlanes(*this, b, {getCos(), getSin()},
                      [&](ImplicitLocOpBuilder &scalar, ValueRange args) {
                        return SmallVector<Value>{
                            convertFloat(scalar, args[0], element),
                            convertFloat(scalar, args[1], element)};
                      });
}

/// x1·x2 + y1·y2, or the difference.
static Value createSum(ImplicitLocOpBuilder &b, Value x1, Value x2, Value y1,
                       Value y2, bool minus) {
  Value x = arith::MulFOp::create(b, x1, x2);
  Value y = arith::MulFOp::create(b, y1, y2);
  if (minus)
    return arith::SubFOp::create(b, x, y);
  return arith::AddFOp::create(b, x, y);
}

/// (c1 + i·s1)·(c2 + i·s2), or the quotient. In f64: products of f32 are exact
/// in it, and a table is small.
static SmallVector<Value> createProduct(ImplicitLocOpBuilder &b,
                                        ArrayRef<Value> x, bool inverse) {
  Value c1 = x[0], s1 = x[1], c2 = x[2], s2 = x[3];
  Value c = createSum(b, c1, c2, s1, s2, /*minus=*/!inverse);
  Value s = createSum(b, s1, c2, c1, s2, /*minus=*/inverse);
  if (!inverse)
    return {c, s};
  Value square = createSum(b, c2, c2, s2, s2, /*minus=*/false);
  return {arith::DivFOp::create(b, c, square),
          arith::DivFOp::create(b, s, square)};
}

FailureOr<SmallVector<Value>>
ComposeOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(*this))
    return getInitsAsResults(*this);
  if (!hasPureTensorSemantics() &&
      !canWriteWhileReading(*this, /*inPlace=*/true))
    return failure();
  ImplicitLocOpBuilder b(getLoc(), builder);
  SmallVector<Value> inputs;
  for (Value table : {getLhs(), getRhs()}) {
    auto [cos, sin] = getPlanes(b, table);
    inputs.append({cos.extract(b, table), sin.extract(b, table)});
  }
  Type element = getElementTypeOrSelf(getInit());
  return createPlanes(
      *this, b, inputs, [&](ImplicitLocOpBuilder &scalar, ValueRange args) {
        SmallVector<Value> wide;
        for (Value arg : args)
          wide.push_back(convertFloat(scalar, arg, scalar.getF64Type()));
        SmallVector<Value> product = createProduct(scalar, wide, getInverse());
        for (Value &value : product)
          value = convertFloat(scalar, value, element);
        return product;
      });
}
