//===- RopeEnums.td - Enumerations of the rope dialect ------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEENUMS_TD
#define ROPE_IR_ROPEENUMS_TD

include "mlir/IR/EnumAttr.td"

def Rope_Pairing : I32EnumAttr<"Pairing", "how channels form pairs", [
    I32EnumAttrCase<"Half", 0, "half">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]> {
  let cppNamespace = "::mlir::rope";
  let genSpecializedAttr = 0;
}

def Rope_AngleMode : I32EnumAttr<"AngleMode", "arithmetic of a table's angles", [
    I32EnumAttrCase<"Exact", 0, "exact">,
    I32EnumAttrCase<"F32Angle", 1, "f32_angle">,
    I32EnumAttrCase<"F32Quotient", 2, "f32_quotient">]> {
  let cppNamespace = "::mlir::rope";
  let genSpecializedAttr = 0;
}
def Rope_AngleModeAttr : EnumAttr<Rope_Dialect, Rope_AngleMode, "angle_mode">;

def Rope_FeatureMap : I32EnumAttr<"FeatureMap", "feature map of linear attention", [
    I32EnumAttrCase<"Identity", 0, "identity">,
    I32EnumAttrCase<"EluPlusOne", 1, "elu_plus_one">,
    I32EnumAttrCase<"Relu", 2, "relu">,
    I32EnumAttrCase<"Exp", 3, "exp">]> {
  let cppNamespace = "::mlir::rope";
  let genSpecializedAttr = 0;
}
def Rope_FeatureMapAttr
    : EnumAttr<Rope_Dialect, Rope_FeatureMap, "feature_map">;

#endif // ROPE_IR_ROPEENUMS_TD
