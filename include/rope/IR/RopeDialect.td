//===- RopeDialect.td - The rope dialect --------------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEDIALECT_TD
#define ROPE_IR_ROPEDIALECT_TD

include "mlir/IR/OpBase.td"

def Rope_Dialect : Dialect {
  let name = "rope";
  let cppNamespace = "::mlir::rope";
  let summary = "Rotary position embedding and the attention built on it";
}

class Rope_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rope_Dialect, mnemonic, traits>;

#endif // ROPE_IR_ROPEDIALECT_TD
