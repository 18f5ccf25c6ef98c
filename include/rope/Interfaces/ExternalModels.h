//===- ExternalModels.h - Upstream interfaces of rope ops -------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interfaces that an embedder may want to leave out. The dialect promises them;
// the functions below attach their models.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_INTERFACES_EXTERNALMODELS_H
#define ROPE_INTERFACES_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::rope {

/// Lets one-shot bufferization turn rope ops on tensors into the same ops on
/// memrefs. Inits are not read unless they carry a state. A rotation may work
/// in place if it reads and writes the same pairing: whoever lowers one on
/// memrefs loads both channels of a pair before storing either.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// Lets generate-runtime-verification check what verifiers cannot see for
/// dynamic shapes: extents that agree, heads that divide, lengths within the
/// keys. Works on tensors and on memrefs.
void registerRuntimeVerifiableOpInterfaceExternalModels(
    DialectRegistry &registry);

} // namespace mlir::rope

#endif // ROPE_INTERFACES_EXTERNALMODELS_H
