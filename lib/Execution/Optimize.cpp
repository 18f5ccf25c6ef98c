//===- Optimize.cpp - LLVM's optimization pipeline ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's own pipeline, spared what takes most of its time and comes to nothing
// for code that has been tiled, unrolled and vectorised already.
//
//===----------------------------------------------------------------------===//

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "rope/Execution/Compiler.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/DeadArgumentElimination.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace mlir::rope;

/// At -O2 LLVM unrolls no loop of more instructions to the end either, but
/// finds so by costing every instruction again for each loop around it.
static constexpr size_t kMaxUnrolledSize = 128;

/// Of loops over vectors with fewer instructions LLVM makes eight copies, and
/// more for what is left over, where the machine mixes iterations by itself.
static constexpr size_t kMinVectorLoopSize = 32;

/// LLVM inlines no larger function that is called several times either, but
/// costs it again for each call.
static constexpr size_t kMaxInlinedSize = 1024;

static size_t countInstructions(const llvm::Loop &loop) {
  size_t size = 0;
  for (const llvm::BasicBlock *block : loop.blocks())
    size += block->size();
  return size;
}

static bool isLarge(const llvm::Loop &loop) {
  return countInstructions(loop) > kMaxUnrolledSize;
}

static bool isSmallOverVectors(const llvm::Loop &loop) {
  auto isVector = [](const llvm::Instruction &op) {
    return op.getType()->isVectorTy();
  };
  auto hasVectors = [&](const llvm::BasicBlock *block) {
    return llvm::any_of(*block, isVector);
  };
  return countInstructions(loop) < kMinVectorLoopSize &&
         llvm::any_of(loop.blocks(), hasVectors);
}

namespace {
/// Leaves loops as they are from here on.
struct KeepLoopsPass : llvm::PassInfoMixin<KeepLoopsPass> {
  explicit KeepLoopsPass(bool (*isKept)(const llvm::Loop &)) : isKept(isKept) {}

  llvm::PreservedAnalyses run(llvm::Loop &loop,
                              llvm::LoopAnalysisManager & /*analyses*/,
                              llvm::LoopStandardAnalysisResults & /*results*/,
                              llvm::LPMUpdater & /*updater*/) {
    if (isKept(loop))
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable", 1);
    return llvm::PreservedAnalyses::all();
  }

  bool (*isKept)(const llvm::Loop &);
};

/// Leaves calls of large functions as they are.
struct KeepCallsPass : llvm::PassInfoMixin<KeepCallsPass> {
  static llvm::PreservedAnalyses run(llvm::Module &module,
                                     llvm::ModuleAnalysisManager &) {
    // One that is to be inlined, and could not be, must not have both.
    for (llvm::Function &function : module)
      if (function.getInstructionCount() > kMaxInlinedSize &&
          !function.hasFnAttribute(llvm::Attribute::AlwaysInline))
        function.addFnAttr(llvm::Attribute::NoInline);
    return llvm::PreservedAnalyses::all();
  }
};
} // namespace

/// Whether nothing but one call can reach a function.
static bool isCalledOnce(const llvm::Function &function) {
  if (!function.hasLocalLinkage() || function.isDeclaration() ||
      !function.hasOneUse())
    return false;
  const auto *call = llvm::dyn_cast<llvm::CallBase>(function.user_back());
  return call && call->isCallee(&*function.use_begin());
}

/// LLVM inlines what is called once, but from the innermost function outwards:
/// a kernel would be optimized again as a part of each function around it.
static void inlineSingleCallsFirst(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (isCalledOnce(function) &&
        !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
}

void mlir::rope::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                          const CompileOptions &options) {
  ExecutionEngine::setupTargetTripleAndDataLayout(&module, &machine);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(llvm::AlwaysInlinerPass());
        passes.addPass(KeepCallsPass());
      });
  // A function that layers share takes descriptors, and wants no more than the
  // addresses where sizes are static. LLVM drops the rest in the end, once it
  // has optimized the reading of it for each layer.
  builder.registerPipelineEarlySimplificationEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel level,
         llvm::ThinOrFullLTOPhase) {
        if (level != llvm::OptimizationLevel::O0)
          passes.addPass(llvm::DeadArgumentEliminationPass());
      });
  // Around the pass that unrolls small loops to the end, which kernels count
  // on.
  builder.registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(KeepLoopsPass(isLarge));
      });
  builder.registerLoopOptimizerEndEPCallback(
      [](llvm::LoopPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(KeepLoopsPass(isSmallOverVectors));
      });
  if (options.optLevel > 0)
    inlineSingleCallsFirst(module);
  builder.buildPerModuleDefaultPipeline(levels[options.optLevel])
      .run(module, modules);
}
