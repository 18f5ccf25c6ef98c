//===- Case.cpp - One random configuration of an op -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include "Support/Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rope/Execution/EntryPoint.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

CaseBuilder::CaseBuilder(ModuleOp module, uint64_t seed)
    : draw(seed), builder(module.getLoc(), module.getContext()) {
  memrefs = draw.chance(0.2);
  dynamicShare = draw.pick({0.0, 0.5, 1.0});
  result.seed = seed;
  result.name = "case_" + std::to_string(seed);
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, result.name,
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

Type CaseBuilder::drawFloat() {
  Type f32 = builder.getF32Type();
  return draw.pick<Type>({f32, f32, f32, builder.getBF16Type(),
                          builder.getF16Type(), builder.getF64Type()});
}

Type CaseBuilder::drawInteger() {
  return draw.pick<Type>({builder.getIntegerType(8), builder.getIntegerType(16),
                          builder.getI32Type(), builder.getI64Type(),
                          builder.getIndexType()});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value CaseBuilder::addArgument(Array array, Type type) {
  result.args.push_back(std::move(array));
  return function.getBody().addArgument(type, builder.getLoc());
}

Type CaseBuilder::getShapedType(ArrayRef<int64_t> shape, Type elementType) {
  if (memrefs)
    return MemRefType::get(shape, elementType);
  return RankedTensorType::get(shape, elementType);
}

SmallVector<int64_t> CaseBuilder::drawDynamic(ArrayRef<int64_t> shape,
                                              ArrayRef<bool> keepStatic) {
  SmallVector<int64_t> drawn(shape);
  for (auto [i, extent] : llvm::enumerate(drawn))
    if ((i >= keepStatic.size() || !keepStatic[i]) && draw.chance(dynamicShare))
      extent = ShapedType::kDynamic;
  return drawn;
}

Value CaseBuilder::addShaped(Array array, Type elementType,
                             ArrayRef<bool> keepStatic, bool mayBeSlice) {
  if (mayBeSlice && draw.chance(0.15))
    return addSlice(std::move(array), elementType, keepStatic);
  Type type =
      getShapedType(drawDynamic(array.getShape(), keepStatic), elementType);
  return addArgument(std::move(array), type);
}

/// Copies `array` into the middle of a larger one; the rest has the bits of a
/// NaN.
static Array embed(const Array &array, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> shape) {
  Array whole = llvm::cantFail(Array::create(array.getDType(), shape));
  std::memset(whole.getData(), 0xFF, whole.getNumBytes());
  size_t width = getByteSize(array.getDType());
  for (int64_t i = 0; i != array.getNumElements(); ++i) {
    int64_t rest = i, to = 0, stride = 1;
    for (int64_t dim = array.getShape().size() - 1; dim >= 0; --dim) {
      to += (rest % array.getShape()[dim] + offsets[dim]) * stride;
      rest /= array.getShape()[dim];
      stride *= shape[dim];
    }
    std::memcpy(whole.getData() + to * width, array.getData() + i * width,
                width);
  }
  return whole;
}

Value CaseBuilder::addSlice(Array array, Type elementType,
                            ArrayRef<bool> keepStatic) {
  SmallVector<int64_t> shape(array.getShape()), offsets;
  SmallVector<OpFoldResult> sizes, begins;
  SmallVector<int64_t> drawn = drawDynamic(shape, keepStatic);
  for (auto [i, extent] : llvm::enumerate(shape)) {
    sizes.push_back(ShapedType::isDynamic(drawn[i])
                        ? OpFoldResult(addIndex(extent))
                        : OpFoldResult(builder.getIndexAttr(extent)));
    offsets.push_back(draw.range(0, 2));
    begins.push_back(draw.chance(0.5)
                         ? OpFoldResult(addIndex(offsets.back()))
                         : OpFoldResult(builder.getIndexAttr(offsets.back())));
    // An offset at the end of a dim is refused, even if nothing is taken.
    int64_t atLeast = extent == 0 ? 1 : 0;
    extent += offsets.back() + draw.range(atLeast, 2);
  }
  SmallVector<OpFoldResult> strides(shape.size(), builder.getIndexAttr(1));
  Type type = getShapedType(drawDynamic(shape, {}), elementType);
  Value whole = addArgument(embed(array, offsets, shape), type);
  if (memrefs)
    return memref::SubViewOp::create(builder, whole, begins, sizes, strides);
  return tensor::ExtractSliceOp::create(builder, whole, begins, sizes, strides);
}

Operand CaseBuilder::addOperand(const reference::Array &values,
                                Type elementType, ArrayRef<bool> keepStatic) {
  Array array = makeArray(*getDType(elementType), values);
  reference::Array numbers = toReference(array);
  return {addShaped(std::move(array), elementType, keepStatic,
                    /*mayBeSlice=*/true),
          numbers};
}

Operand CaseBuilder::addOperand(const reference::IntArray &values,
                                Type elementType, ArrayRef<bool> keepStatic) {
  Array array = makeArray(*getDType(elementType), values);
  reference::Array numbers(values.getShape());
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    numbers[i] = static_cast<double>(values[i]);
  return {addShaped(std::move(array), elementType, keepStatic,
                    /*mayBeSlice=*/true),
          numbers};
}

Operand CaseBuilder::addRandom(const reference::Shape &shape, Type elementType,
                               ArrayRef<bool> keepStatic, double low,
                               double high) {
  return addOperand(draw.array(shape, low, high), elementType, keepStatic);
}

Value CaseBuilder::addIndex(int64_t number) {
  if (draw.chance(0.3))
    return arith::ConstantIndexOp::create(builder, number);
  return addArgument(makeArray(DType::I64, reference::IntArray({}, {number})),
                     builder.getIndexType());
}

Operand CaseBuilder::addInit(const reference::Shape &shape, Type elementType,
                             ArrayRef<bool> keepStatic,
                             const reference::Array *contents) {
  SmallVector<int64_t> drawn = drawDynamic(shape, keepStatic);
  if (!memrefs && !contents && llvm::none_of(drawn, ShapedType::isDynamic) &&
      draw.chance(0.5))
    return {tensor::EmptyOp::create(builder, drawn, elementType), {}};
  reference::Array garbage = reference::Array::filled(shape, NAN);
  Array array =
      makeArray(*getDType(elementType), contents ? *contents : garbage);
  reference::Array numbers = toReference(array);
  return {addArgument(std::move(array), getShapedType(drawn, elementType)),
          numbers};
}

void CaseBuilder::finish(Operation *op, ValueRange inits,
                         std::vector<Want> wants) {
  func::ReturnOp::create(builder, op->getResults());
  result.wants = std::move(wants);
  if (memrefs)
    for (Value init : inits)
      result.outputs.push_back(cast<BlockArgument>(init).getArgNumber());
  function.setType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), op->getResultTypes()));
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

namespace {
/// A kind of case: how to draw one, and how many of all are of the kind.
struct Kind {
  StringRef name;
  void (*draw)(CaseBuilder &);
  int64_t weight;
};
} // namespace

static constexpr Kind kKinds[] = {
    {"table", drawTableCase, 2},
    {"assemble", drawAssembleCase, 1},
    {"compose", drawComposeCase, 1},
    {"rotation", drawRotationCase, 2},
    {"attention", drawAttentionCase, 4},
    {"online_attention", drawOnlineAttentionCase, 2},
    {"linear_attention", drawLinearAttentionCase, 2}};

bool test::isCaseKind(StringRef kind) {
  return kind.empty() || llvm::any_of(kKinds, [&](const Kind &candidate) {
           return candidate.name == kind;
         });
}

Case test::drawCase(ModuleOp module, uint64_t seed, StringRef kind) {
  CaseBuilder b(module, seed);
  std::vector<const Kind *> kinds;
  for (const Kind &candidate : kKinds)
    if (kind.empty() || candidate.name == kind)
      kinds.insert(kinds.end(), candidate.weight, &candidate);
  b.draw.pick(kinds)->draw(b);
  return b.takeCase();
}

/// Whether a number is close enough to what is wanted.
static bool isClose(double got, double want, double tolerance,
                    reference::FloatFormat format) {
  double rounded = reference::roundTo(want, format);
  if (got == rounded || (std::isnan(got) && std::isnan(want)))
    return true;
  if (!std::isfinite(got) || !std::isfinite(rounded))
    return false;
  return std::fabs(got - want) <= tolerance ||
         std::fabs(got - rounded) <= 1.05 * reference::getUlp(rounded, format);
}

std::optional<std::string> test::findDifference(const Array &got,
                                                const Want &want) {
  reference::Array values = toReference(got);
  if (values.getShape() != want.values.getShape())
    return "has shape " + reference::toString(values.getShape()) +
           ", expected " + reference::toString(want.values.getShape());
  reference::FloatFormat format = getFormat(got.getDType());
  for (int64_t i = 0; i < values.getNumElements(); ++i) {
    double wanted = want.values[i];
    double tolerance =
        want.tolerance[want.tolerance.getNumElements() == 1 ? 0 : i];
    if (want.zeroIsExact && wanted == 0
            ? values[i] == 0
            : isClose(values[i], wanted, tolerance, format))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format(
        "element %lld of %lld is %.9g, expected %.9g; they "
        "differ by %.3g, allowed is %.3g",
        static_cast<long long>(i),
        static_cast<long long>(values.getNumElements()), values[i], wanted,
        std::fabs(values[i] - wanted), tolerance);
    return text;
  }
  return std::nullopt;
}
