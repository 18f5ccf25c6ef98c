//===- dialects.c - Use the dialect through MLIR's C API ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope-c/Dialects.h"
#include "Check.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

static void append(MlirStringRef part, void *text) {
  strncat(text, part.data, part.length);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__rope__(), registry);
  ropeRegisterAllDialects(registry);
  ropeRegisterAllPasses();
  MlirContext context = mlirContextCreate();
  mlirContextAppendDialectRegistry(context, registry);
  mlirContextLoadAllAvailableDialects(context);
  MlirAttribute attribute = mlirAttributeParseGet(
      context, mlirStringRefCreateFromCString("#rope.default<1.000000e+04>"));
  CHECK(!mlirAttributeIsNull(attribute));
  char text[200] = "";
  mlirAttributePrint(attribute, append, text);
  CHECK(strncmp(text, "#rope.default<", 14) == 0);

  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreateFromCString(
                   "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                   "  return %x : tensor<2xf32>\n}\n"));
  CHECK(!mlirModuleIsNull(module));
  MlirPassManager manager = mlirPassManagerCreate(context);
  char message[1000] = "";
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString("builtin.module(rope-cpu-pipeline)"),
      append, message);
  CHECK(mlirLogicalResultIsSuccess(parsed));
  CHECK(mlirLogicalResultIsSuccess(
      mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  static char printed[100000];
  mlirOperationPrint(mlirModuleGetOperation(module), append, printed);
  CHECK(strstr(printed, "llvm.func @f(") != NULL);

  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
