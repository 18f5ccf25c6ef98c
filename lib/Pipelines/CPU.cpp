//===- CPU.cpp - From model IR to the LLVM dialect ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of rope-cpu-pipeline. Nothing in here looks at the machine that
// compiles: what the code may use is decided when LLVM IR is compiled.
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/ShapeToStandard/ShapeToStandard.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "rope/CodeGen/CPU/Passes.h"
#include "rope/Pipelines/Pipelines.h"
#include "rope/Raise/Passes.h"
#include "rope/Transforms/Passes.h"

using namespace mlir;

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void addTosaToLinalg(OpPassManager &pm) {
  // No validation: what cannot be converted is reported by the conversion.
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(), std::nullopt);
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createTosaToTensorPass());
  function.addPass(createTosaToSCFPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  function.addPass(createTosaToArithPass(arith));
}

// The processor has no such instruction for vectors of more lanes.
static bool hasDots(const rope::CPUPipelineOptions &options) {
  return options.dots && options.lanes <= 16;
}

void rope::buildRaiseStage(OpPassManager &pm,
                           const CPUPipelineOptions &options) {
  if (options.raise) {
    pm.addPass(createRaisePass());
    pm.addPass(createFusePass());
  }
  if (!options.packWeights)
    return;
  pm.addPass(createNormalizeLinalgPass());
  PackWeightsPassOptions pack;
  pack.lanes = options.lanes;
  pack.registers = options.registers;
  pack.dots = hasDots(options);
  pm.addPass(createPackWeightsPass(pack));
}

void rope::buildTensorStage(OpPassManager &pm,
                            const CPUPipelineOptions &options) {
  // A check that fails in one of many layers has to name its place.
  if (!options.portable && !options.runtimeChecks)
    pm.addPass(createOutlineRepeatsPass());
  if (options.runtimeChecks)
    pm.addPass(createGenerateRuntimeVerificationPass());
  DecomposePassOptions decompose;
  if (!options.portable) {
    PlanPassOptions plan;
    plan.lanes = options.lanes;
    plan.registers = options.registers;
    plan.lookup = options.lookup;
    plan.dots = options.dots;
    plan.relaxedBF16 = options.relaxedBF16;
    pm.addPass(createPlanPass(plan));
    decompose.keepPlanned = true;
  }
  pm.addPass(createDecomposePass(decompose));
  addTosaToLinalg(pm);
  pm.addPass(createConvertShapeToStandardPass());
  ExpandStructuredPassOptions structured;
  structured.keepWeights = !options.portable;
  pm.addPass(createExpandStructuredPass(structured));
  pm.addPass(createConvertElementwiseToLinalgPass());
  // Bufferization wants functions of one block.
  pm.addPass(createLiftControlFlowToSCFPass());
}

void rope::buildTileStage(OpPassManager &pm,
                          const CPUPipelineOptions &options) {
  if (options.portable)
    return;
  pm.addPass(createNormalizeLinalgPass());
  TileLinalgPassOptions tiles;
  tiles.lanes = options.lanes;
  tiles.registers = options.registers;
  tiles.dots = hasDots(options);
  tiles.threads = options.threads;
  pm.addPass(createTileLinalgPass(tiles));
}

void rope::buildBufferizeStage(OpPassManager &pm,
                               const CPUPipelineOptions &options) {
  pm.addPass(createProtectArgumentsPass());
  pm.addPass(createSeparateResultsPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bool shares = options.threads && !options.portable;
  if (!shares)
    pm.addPass(createForallToForLoopPass());
  // Twice: what CSE makes equal shows copies of a buffer onto itself.
  addCleanUp(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createReturnInArgumentsPass());
  pm.addPass(createSeparateResultsPass());
  if (options.resultsAsOutParams) {
    bufferization::BufferResultsToOutParamsPassOptions results;
    results.hoistStaticAllocs = true;
    results.hoistDynamicAllocs = true;
    results.modifyPublicFunctions = true;
    pm.addPass(bufferization::createBufferResultsToOutParamsPass(results));
  }
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferHoistingPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  // It frees what it allocates.
  AttentionToVectorPassOptions attention;
  attention.threads = options.threads;
  pm.addPass(createAttentionToVectorPass(attention));
  LinearAttentionToVectorPassOptions linear;
  linear.threads = options.threads;
  pm.addPass(createLinearAttentionToVectorPass(linear));
  RotationToVectorPassOptions rotation;
  rotation.threads = options.threads;
  rotation.streamBytes = options.streamBytes;
  pm.addPass(createRotationToVectorPass(rotation));
  pm.addPass(createExpandCopiesPass());
  if (!options.portable || options.keepMemory) {
    PlanMemoryPassOptions memory;
    memory.keep = options.keepMemory;
    pm.addPass(createPlanMemoryPass(memory));
  }
  // Last: no analysis of memory follows what is handed to threads.
  if (shares)
    pm.addPass(createShareLoopsPass());
}

// Arithmetic that has no counterpart in LLVM, or one that calls functions of
// compiler runtimes that not every machine has.
static void addArithmeticExpansion(OpPassManager &pm,
                                   const rope::CPUPipelineOptions &options) {
  math::MathExpandOpsPassOptions powers;
  powers.opMnemonics = SmallVector<std::string>{"fpowi"};
  pm.addPass(math::createMathExpandOpsPass(powers));
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(rope::createExpandNarrowingPass());
  pm.addPass(rope::createDropCastFlagsPass());
  if (!options.portable)
    pm.addPass(rope::createExpandMathPass());
  arith::ArithEmulateUnsupportedFloatsOptions bfloat;
  bfloat.sourceTypeStrs = SmallVector<std::string>{"bf16"};
  pm.addPass(arith::createArithEmulateUnsupportedFloats(bfloat));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
}

void rope::buildLLVMStage(OpPassManager &pm,
                          const CPUPipelineOptions &options) {
  pm.addPass(createConvertLinalgToLoopsPass());
  addCleanUp(pm);
  pm.addNestedPass<func::FuncOp>(vector::createLowerVectorMultiReductionPass(
      vector::VectorMultiReductionLowering::InnerReduction));
  pm.addPass(createExpandElementTransfersPass());
  VectorTransferToSCFOptions transfers;
  transfers.enableFullUnroll();
  pm.addPass(createConvertVectorToSCFPass(transfers));
  pm.addPass(memref::createExpandReallocPass());
  pm.addPass(memref::createExpandOpsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  addArithmeticExpansion(pm, options);
  // No canonicalization from here: it would take the rows of unrolled vectors
  // apart into single elements.
  pm.addPass(createCSEPass());
  pm.addPass(createConvertMathToFuncs());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = true;
  vectors.reassociateFPReductions = !options.portable;
  vectors.vectorContractLowering = vector::VectorContractLowering::OuterProduct;
  vectors.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  pm.addPass(createSCFToControlFlowPass());
  // Calls of libm take vectors apart, so they come before what lowers that.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertAssertPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createCheckLoweredPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void rope::buildCPUPipeline(OpPassManager &pm,
                            const CPUPipelineOptions &options) {
  buildRaiseStage(pm, options);
  buildTensorStage(pm, options);
  buildTileStage(pm, options);
  buildBufferizeStage(pm, options);
  buildLLVMStage(pm, options);
}
