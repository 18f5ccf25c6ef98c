//===- consumer.c - A compiler in C that embeds rope ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a host does that has only C: registers the dialect, puts a rotation into
// a function and lowers it by the CPU pipeline.
//
//===----------------------------------------------------------------------===//

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"
#include "rope-c/Dialects.h"
#include <stdio.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void print(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stderr);
}

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  ropeRegisterAllDialects(registry);
  ropeRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  return context;
}

/// Puts a rotation of the first argument of `function` by the second in front
/// of its return, and returns what that gives.
static void insertRotation(MlirContext context, MlirOperation function) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation exit = mlirBlockGetTerminator(body);
  MlirValue x = mlirBlockGetArgument(body, 0);
  MlirValue operands[] = {x, mlirBlockGetArgument(body, 1), x};
  MlirType type = mlirValueGetType(x);
  MlirNamedAttribute rotary = mlirNamedAttributeGet(
      mlirIdentifierGet(context, str("rotary")),
      mlirAttributeParseGet(context, str("#rope.rotary<half along [1]>")));

  MlirOperationState state = mlirOperationStateGet(
      str("rope.rotate"), mlirLocationUnknownGet(context));
  mlirOperationStateAddOperands(&state, 3, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(&state, 1, &rotary);
  MlirOperation rotate = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(body, exit, rotate);
  mlirOperationSetOperand(exit, 0, mlirOperationGetResult(rotate, 0));
}

/// Runs `pipeline` on `module`; false after a message.
static bool runPipeline(MlirContext context, MlirModule module,
                        const char *pipeline) {
  MlirPassManager passes = mlirPassManagerCreate(context);
  bool ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                mlirPassManagerGetAsOpPassManager(passes), str(pipeline), print,
                NULL)) &&
            mlirLogicalResultIsSuccess(
                mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(passes);
  return ok;
}

int main(void) {
  MlirContext context = createContext();
  MlirModule module = mlirModuleCreateParse(
      context, str("func.func @rotate(%x: tensor<4x16x64xf32>, "
                   "%table: tensor<16x2x32xf32>) -> tensor<4x16x64xf32> {\n"
                   "  return %x : tensor<4x16x64xf32>\n"
                   "}\n"));
  insertRotation(context,
                 mlirBlockGetFirstOperation(mlirModuleGetBody(module)));
  bool ok = mlirOperationVerify(mlirModuleGetOperation(module)) &&
            runPipeline(context, module, "rope-cpu-pipeline");
  if (ok)
    puts("consumer: rotate is in the LLVM dialect");
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return ok ? 0 : 1;
}
