//===- Array.h - Dense f64 and i64 arrays -----------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values which the reference evaluator computes on: dense, row-major,
// owning arrays of any rank with the few movements that tests need.
//
// The reference library depends on the C++17 standard library alone. It throws
// no exceptions: each evaluator has a `findError` overload that says what is
// wrong with its inputs, and evaluating wrong inputs prints that and aborts.
//
//===----------------------------------------------------------------------===//

#ifndef ROPE_REFERENCE_ARRAY_H
#define ROPE_REFERENCE_ARRAY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::rope::reference {

/// The extents of an array, outermost first. Empty for a scalar; an extent may
/// be zero.
using Shape = std::vector<int64_t>;

/// What is wrong with some inputs, or nothing.
using MaybeError = std::optional<std::string>;

/// Prints `message` on stderr and aborts. For calls which `findError` refuses.
[[noreturn]] void reportInvalid(const std::string &message);

/// The product of the extents, 1 for a scalar.
int64_t getNumElements(const Shape &shape);

/// Renders a shape as `[2, 3]` for messages.
std::string toString(const Shape &shape);

/// A dense row-major array that owns its elements. Instantiated for double
/// (`Array`) and int64_t (`IntArray`).
template <typename T> class BasicArray {
public:
  /// A scalar zero.
  BasicArray() : elements(1) {}

  /// Zeros of the shape.
  explicit BasicArray(Shape shape);

  /// An array of the shape with the elements in row-major order. Aborts unless
  /// there are as many as the shape asks for.
  BasicArray(Shape shape, std::vector<T> elements);

  /// An array of the shape, each element equal to `value`.
  static BasicArray filled(Shape shape, T value);

  /// The vector [start, start + 1, …] of `size` elements.
  static BasicArray iota(int64_t size, T start = T());

  const Shape &getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  int64_t getDim(int64_t dim) const { return shape[dim]; }
  int64_t getNumElements() const {
    return static_cast<int64_t>(elements.size());
  }

  /// The elements in row-major order.
  const std::vector<T> &getElements() const { return elements; }
  T *data() { return elements.data(); }
  const T *data() const { return elements.data(); }

  /// Element number `flat` in row-major order; unchecked.
  T &operator[](int64_t flat) { return elements[flat]; }
  const T &operator[](int64_t flat) const { return elements[flat]; }

  /// The element at an index of one number per dim. Aborts if it is outside.
  T &at(const Shape &index) { return elements[getOffset(index)]; }
  const T &at(const Shape &index) const { return elements[getOffset(index)]; }

  /// Dim i of the result is dim permutation[i] of this array, as in NumPy's
  /// `transpose`.
  BasicArray permute(const std::vector<int64_t> &permutation) const;

  /// The same elements in the same order under another shape. One extent may
  /// be −1: it is inferred.
  BasicArray reshape(Shape newShape) const;

  /// Repeats extents of 1, and missing leading dims, to reach `newShape`; NumPy
  /// rules.
  BasicArray broadcastTo(const Shape &newShape) const;

  /// Elements start, start + 1, … start + size − 1 of one dim.
  BasicArray slice(int64_t dim, int64_t start, int64_t size) const;

  /// The arrays one after another along `dim`; the other extents agree.
  static BasicArray concat(const std::vector<BasicArray> &arrays, int64_t dim);

private:
  int64_t getOffset(const Shape &index) const;

  Shape shape;
  std::vector<T> elements;
};

extern template class BasicArray<double>;
extern template class BasicArray<int64_t>;

/// f64 data.
using Array = BasicArray<double>;

/// i64 data: positions and lengths.
using IntArray = BasicArray<int64_t>;

} // namespace mlir::rope::reference

#endif // ROPE_REFERENCE_ARRAY_H
