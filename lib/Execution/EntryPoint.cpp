//===- EntryPoint.cpp - Signatures of a module's functions ----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/EntryPoint.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rope;

static std::optional<DType> getIntegerDType(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return DType::I1;
  case 8:
    return isUnsigned ? DType::U8 : DType::I8;
  case 16:
    return isUnsigned ? DType::U16 : DType::I16;
  case 32:
    return isUnsigned ? DType::U32 : DType::I32;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return std::nullopt;
  }
}

std::optional<DType> mlir::rope::getDType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return getIntegerDType(integer);
  if (isa<IndexType>(type))
    return DType::I64;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return DType::C64;
    if (complex.getElementType().isF64())
      return DType::C128;
  }
  return std::nullopt;
}

static bool fits(ArrayRef<int64_t> shape, ArrayRef<int64_t> given) {
  return shape.size() == given.size() &&
         llvm::all_of_zip(shape, given, [](int64_t size, int64_t other) {
           return ShapedType::isDynamic(size) || size == other;
         });
}

llvm::Error ValueSpec::check(DType given, ArrayRef<int64_t> givenShape) const {
  // A number may come as an array of one element, whatever its rank.
  bool shapeFits =
      isScalar ? countElements(givenShape) == 1 : fits(shape, givenShape);
  if (shapeFits && isReadableAs(given, dtype))
    return llvm::Error::success();
  std::string dims = formatShape(givenShape);
  return llvm::createStringError("expected " + type + ", got " +
                                 getName(given) + "[" + dims + "]");
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Describes `type`, or returns nothing when no call can pass it.
static std::optional<ValueSpec> describe(Type type) {
  ValueSpec spec;
  spec.type = print(type);
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && (!isa<RankedTensorType, MemRefType>(type) || !shaped.hasRank()))
    return std::nullopt;
  if (auto memref = dyn_cast<MemRefType>(type);
      memref && !memref.getLayout().isIdentity())
    return std::nullopt;
  std::optional<DType> dtype =
      getDType(shaped ? shaped.getElementType() : type);
  if (!dtype)
    return std::nullopt;
  spec.dtype = *dtype;
  spec.isScalar = !shaped;
  if (shaped)
    spec.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
  return spec;
}

static void describeAll(TypeRange types, StringRef what,
                        SmallVectorImpl<ValueSpec> &specs,
                        std::string &obstacle) {
  for (auto [index, type] : llvm::enumerate(types)) {
    std::optional<ValueSpec> spec = describe(type);
    if (spec)
      specs.push_back(std::move(*spec));
    else if (obstacle.empty())
      obstacle = (what + " " + Twine(index) + " has the type " + print(type) +
                  ", which a call cannot pass")
                     .str();
  }
}

std::string EntryPoint::getSignature() const {
  auto join = [](ArrayRef<ValueSpec> specs) {
    return llvm::join(
        llvm::map_range(specs, [](auto &spec) { return spec.type; }), ", ");
  };
  return name + "(" + join(args) + ") -> (" + join(results) + ")";
}

/// Whether a call may write to the memory of argument `index`.
static bool isWritable(func::FuncOp func, unsigned index) {
  if (isa<MemRefType>(func.getArgumentTypes()[index]))
    return true;
  auto attr = func.getArgAttrOfType<BoolAttr>(
      index, bufferization::BufferizationDialect::kWritableAttrName);
  return attr && attr.getValue();
}

static bool isEntryPoint(func::FuncOp func) {
  return func.isPublic() && !func.isExternal();
}

std::vector<EntryPoint> mlir::rope::getEntryPoints(ModuleOp module) {
  std::vector<EntryPoint> entries;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!isEntryPoint(func))
      continue;
    EntryPoint &entry = entries.emplace_back();
    entry.name = func.getName();
    describeAll(func.getArgumentTypes(), "argument", entry.args,
                entry.obstacle);
    // With an obstacle some arguments are missing, and nobody asks.
    if (entry.obstacle.empty())
      for (auto [index, arg] : llvm::enumerate(entry.args))
        arg.isWritable = isWritable(func, index);
    describeAll(func.getResultTypes(), "result", entry.results, entry.obstacle);
  }
  return entries;
}

llvm::Expected<const EntryPoint *>
mlir::rope::findEntryPoint(ArrayRef<EntryPoint> entries, StringRef name) {
  if (entries.empty())
    return llvm::createStringError(
        "the module has no public function with a body");
  if (name.empty() && entries.size() == 1)
    return &entries.front();
  for (const EntryPoint &entry : entries)
    if (entry.name == (name.empty() ? "main" : name))
      return &entry;
  std::string names = llvm::join(
      llvm::map_range(entries, [](auto &entry) { return "@" + entry.name; }),
      ", ");
  if (name.empty())
    return llvm::createStringError(
        "the module has several entries, name one: " + names);
  return llvm::createStringError("the module has no entry @" + name +
                                 ", only " + names);
}

void mlir::rope::requestWrappers(ModuleOp module) {
  auto wrapper = UnitAttr::get(module.getContext());
  for (auto func : module.getOps<func::FuncOp>())
    if (isEntryPoint(func))
      func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), wrapper);
}
