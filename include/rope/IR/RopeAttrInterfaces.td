//===- RopeAttrInterfaces.td - Interface of frequencies -----*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEATTRINTERFACES_TD
#define ROPE_IR_ROPEATTRINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Rope_FrequencyAttrInterface : AttrInterface<"FrequencyAttrInterface"> {
  let cppNamespace = "::mlir::rope";
  let description = [{
    A schedule of rotation frequencies. A user adds a schedule by an attribute
    that implements this interface; no op has to know of it.

    Frequencies are in radians per token, lengths in tokens.
  }];
  let methods = [
    InterfaceMethod<[{
        The frequency of each of the `pairs` pairs. `length` is the current
        length of the sequence; schedules that depend on it need it.
      }],
      "::llvm::SmallVector<double>", "computeFrequencies",
      (ins "int64_t":$pairs, "std::optional<int64_t>":$length)>,
    InterfaceMethod<"The factor a of cos and sin.",
      "double", "computeMagnitude", (ins), "", [{ return 1.0; }]>,
    InterfaceMethod<"Whether the frequencies change with the length.",
      "bool", "dependsOnLength", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Builds the frequencies for a length known only at run time (an index)
        as a tensor<pairs x f64>. Called only if `dependsOnLength`.
      }],
      "::mlir::Value", "buildFrequencies",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$length, "int64_t":$pairs), "", [{
        return ::mlir::Value();
      }]>,
    InterfaceMethod<"Checks that the schedule can serve that many pairs.",
      "::llvm::LogicalResult", "verifyPairs",
      (ins "int64_t":$pairs,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "", [{
        return ::llvm::success();
      }]>
  ];
}

#endif // ROPE_IR_ROPEATTRINTERFACES_TD
