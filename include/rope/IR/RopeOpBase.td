//===- RopeOpBase.td - Operand types and base classes -------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_IR_ROPEOPBASE_TD
#define ROPE_IR_ROPEOPBASE_TD

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"
include "rope/IR/RopeAttrs.td"
include "rope/IR/RopeOpInterfaces.td"

//===----------------------------------------------------------------------===//
// Operand types
//===----------------------------------------------------------------------===//

def Rope_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Rope_Accumulator : AnyTypeOf<[F32, F64], "f32 or f64">;

class Rope_Shaped<Type element>
    : AnyTypeOf<[RankedTensorOf<[element]>, MemRefOf<[element]>],
                "ranked tensor or memref of " # element.summary>;

def Rope_FloatShaped : Rope_Shaped<Rope_Float>;
def Rope_AccumulatorShaped : Rope_Shaped<Rope_Accumulator>;
def Rope_MaskElement : AnyTypeOf<[I1, Rope_Float], "i1, f16, bf16, f32 or f64">;
def Rope_MaskShaped : Rope_Shaped<Rope_MaskElement>;
def Rope_Integer
    : AnyTypeOf<[I8, I16, I32, I64, Index], "i8, i16, i32, i64 or index">;
def Rope_PositionElement
    : AnyTypeOf<[Rope_Integer, Rope_Float],
                "i8, i16, i32, i64, index or float">;
def Rope_Positions
    : AnyTypeOf<[Index, RankedTensorOf<[Rope_PositionElement]>,
                 MemRefOf<[Rope_PositionElement]>],
                "index, or ranked tensor or memref of i8, i16, i32, i64, index or float">;
def Rope_Slots
    : AnyTypeOf<[Index, RankedTensorOf<[Rope_Integer]>,
                 MemRefOf<[Rope_Integer]>],
                "index, or ranked tensor or memref of i8, i16, i32, i64 or index">;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

/// Every op is in destination-passing style, over tensors or over memrefs.
class Rope_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rope_Dialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getLoopIteratorTypes", "getIterationDomain",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue", "getIterationDomainTileFromResultTile",
          "getTiledImplementationFromOperandTiles",
          "getIterationDomainTileFromOperandTiles"]>])> {
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// An op with one init and, on tensors, one result.
class Rope_SingleInitOp<string mnemonic, list<Trait> traits = []>
    : Rope_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<AggregatedOpInterface,
                                  ["decomposeOperation"]>])> {
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

/// A turn of pairs of channels by a table.
class Rope_RotationOp<string mnemonic> : Rope_SingleInitOp<mnemonic> {
  let hasCanonicalizer = 1;
  let arguments = (ins Rope_RotaryAttr:$rotary, Rope_FloatShaped:$input,
                       Rope_FloatShaped:$table, Rope_FloatShaped:$init);
  let assemblyFormat = [{
    $rotary `ins` `(` $input `,` $table `:` type($input) `,` type($table) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let builders = [OpBuilder<(ins "RotaryAttr":$rotary, "::mlir::Value":$input,
                                 "::mlir::Value":$table, "::mlir::Value":$init)>];
}

/// An op over the domain of attention.
class Rope_AttentionLikeOp<string mnemonic, list<Trait> traits = []>
    : Rope_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<AggregatedOpInterface,
                                  ["decomposeOperation"]>,
        DeclareOpInterfaceMethods<Rope_AttentionLikeOpInterface,
                                  ["getRoleOperand", "getInitRoles",
                                   "getRotation"]>])> {
  let hasCanonicalizer = 1;
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

#endif // ROPE_IR_ROPEOPBASE_TD
