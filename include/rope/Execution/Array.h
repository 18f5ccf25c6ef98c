//===- Array.h - Dense arrays and their element types --------- -*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that go into and come out of a compiled program: element types as
// MLIR spells them, arrays that own their memory, and views of memory owned by
// somebody else. Nothing here depends on MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_ARRAY_H
#define ROPE_EXECUTION_ARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace mlir::rope {

/// The element types of arrays. The order is part of the C API.
enum class DType : int32_t {
  F16,
  BF16,
  F32,
  F64,
  I1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  C64,
  C128
};

/// The number of element types.
inline constexpr int32_t kNumDTypes = 15;

/// Bytes that one element takes in memory (1 for `I1`).
size_t getByteSize(DType dtype);

/// The name MLIR gives the type: `bf16`, `i1`, `ui8`, `complex<f32>`.
llvm::StringRef getName(DType dtype);

bool isFloat(DType dtype);
bool isComplex(DType dtype);

/// Whether memory of type `stored` may be read as `wanted`: the same type,
/// integers of one width whatever their sign, or the bits of a bf16 in u16.
bool isReadableAs(DType stored, DType wanted);

/// `a x b x …`, as in tensor types. `?` for negative sizes.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// The product of `shape`, or nothing when it overflows or a size is negative.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Memory that belongs to somebody else: row-major and dense.
struct ArrayView {
  DType dtype = DType::F32;
  llvm::ArrayRef<int64_t> shape;
  void *data = nullptr;
};

/// A row-major, dense array that owns its memory.
class Array {
public:
  Array() = default;

  /// An array of zeros, aligned to 64 bytes. Fails when the size overflows or
  /// no memory is left.
  static llvm::Expected<Array> create(DType dtype,
                                      llvm::ArrayRef<int64_t> shape);

  /// Takes over `allocated`, a block of malloc, in which the elements lie at
  /// `data`.
  static Array adopt(DType dtype, llvm::ArrayRef<int64_t> shape,
                     void *allocated, void *data);

  DType getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }
  size_t getNumBytes() const { return numElements * getByteSize(dtype); }
  char *getData() { return data; }
  const char *getData() const { return data; }

  /// Reads the same memory as another type of the same width.
  void reinterpret(DType other) { dtype = other; }

  /// The array as an argument of a call. Valid while the array lives.
  ArrayView view() { return {dtype, shape, data}; }

  /// Element `index` in row-major order, widened. bf16 and f16 are decoded,
  /// real types have a zero imaginary part.
  std::complex<double> get(int64_t index) const;

  /// Rounds `value` to the element type (towards zero for integers; what does
  /// not fit 64 bits becomes 0) and stores it at `index`.
  void set(int64_t index, double value);

private:
  struct Free {
    void operator()(void *block) const { std::free(block); }
  };

  DType dtype = DType::F32;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 0;
  std::unique_ptr<void, Free> block;
  char *data = nullptr;
};

} // namespace mlir::rope

#endif // ROPE_EXECUTION_ARRAY_H
