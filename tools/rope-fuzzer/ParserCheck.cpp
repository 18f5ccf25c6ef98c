//===- ParserCheck.cpp - What must hold of any text -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the dialects that text about rope needs are loaded: the parsers of the
// others are not ours to test.
//
//===----------------------------------------------------------------------===//

#include "ParserCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "rope/IR/Rope.h"
#include "rope/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rope;

namespace {
/// Swallows diagnostics, and remembers whether an error had a place.
class ErrorLog {
public:
  explicit ErrorLog(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return;
          hasError = true;
          last = diagnostic.str();
          hasPlace |= !isa<UnknownLoc>(diagnostic.getLocation());
        }) {}

  /// Complains unless there was an error at a place.
  std::optional<std::string> checkRefusal(StringRef what) const {
    if (!hasError)
      return (what + " failed without an error").str();
    if (!hasPlace)
      return (what + " failed with an error at no place: " + last).str();
    return std::nullopt;
  }

private:
  bool hasError = false, hasPlace = false;
  std::string last;
  ScopedDiagnosticHandler handler;
};
} // namespace

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

/// Prints, parses and prints again.
static std::optional<std::string> checkRoundTrip(ModuleOp module) {
  std::string printed = print(module);
  OwningOpRef<ModuleOp> again =
      parseSourceString<ModuleOp>(printed, module.getContext());
  if (!again)
    return "what was printed does not parse:\n" + printed;
  std::string reprinted = print(*again);
  if (reprinted != printed)
    return "printed first:\n" + printed + "\nand then:\n" + reprinted;
  return std::nullopt;
}

/// The most numbers that one type may stand for: constants as large as the
/// types in random text say would fill the memory.
static constexpr int64_t kMaxElements = int64_t(1) << 16;

static bool isSmall(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return true;
  int64_t count = 1;
  for (int64_t extent : shaped.getShape())
    if (!ShapedType::isDynamic(extent) &&
        (llvm::MulOverflow(count, std::max<int64_t>(extent, 1), count) ||
         count > kMaxElements))
      return false;
  return true;
}

static bool isSmall(ModuleOp module) {
  return !module
              ->walk([](Operation *op) {
                bool small = llvm::all_of(op->getOperandTypes(),
                                          [](Type t) { return isSmall(t); }) &&
                             llvm::all_of(op->getResultTypes(),
                                          [](Type t) { return isSmall(t); });
                return small ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether each reassociation names dims that exist. Upstream's verifier
/// compares the low 32 bits of their numbers only, and its folders, like ours,
/// then read past the shape.
static bool hasSoundReshapes(ModuleOp module) {
  auto isSound = [](Operation *op) {
    auto groups = op->getAttrOfType<ArrayAttr>("reassociation");
    return !groups || llvm::all_of(groups, [](Attribute group) {
      auto dims = dyn_cast<ArrayAttr>(group);
      return dims && llvm::all_of(dims, [](Attribute dim) {
               auto number = dyn_cast<IntegerAttr>(dim);
               return number && number.getValue().isIntN(31);
             });
    });
  };
  return !module
              ->walk([&](Operation *op) {
                return isSound(op) ? WalkResult::advance()
                                   : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Runs the passes that take any valid module.
static std::optional<std::string> checkPasses(ModuleOp module) {
  ErrorLog log(module.getContext());
  PassManager pm(module.getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createDecomposePass());
  if (succeeded(pm.run(module)))
    return checkRoundTrip(module);
  return log.checkRefusal("a pass");
}

MLIRContext &fuzz::ParserCheck::getContext() {
  constexpr unsigned maxUses = 1000;
  if (context && numUses++ < maxUses)
    return *context;
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  memref::MemRefDialect, RopeDialect, tensor::TensorDialect>();
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  numUses = 0;
  return *context;
}

std::optional<std::string> fuzz::ParserCheck::run(StringRef text) {
  // Upstream's parser of `linalg.transpose` and its like crashes on an operand
  // list that is not closed by their attribute; that is not what is tested.
  if (text.contains("linalg."))
    return std::nullopt;
  MLIRContext &context = getContext();
  // The parser wants a byte of zero after the text.
  std::string copy = text.str();
  ErrorLog log(&context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(copy, &context);
  if (!module)
    return log.checkRefusal("the parser");
  ++numAccepted;
  if (std::optional<std::string> error = checkRoundTrip(*module))
    return error;
  if (!isSmall(*module) || !hasSoundReshapes(*module))
    return std::nullopt;
  return checkPasses(*module);
}
