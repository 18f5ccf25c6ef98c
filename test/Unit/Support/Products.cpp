//===- Products.cpp - Errors of matrix products ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Products.h"

#include <cmath>

using namespace mlir::rope;
using namespace mlir::rope::test;

double test::getProductError(const Array &a, const Array &b, const Array &c,
                             const Array &r, Sizes s, bool transposed) {
  double worst = 0;
  for (int64_t i = 0; i < s.batch * s.rows; ++i)
    for (int64_t j = 0; j < s.columns; ++j) {
      double sum = at(c, i * s.columns + j), magnitude = std::fabs(sum);
      for (int64_t k = 0; k < s.steps; ++k) {
        int64_t matrix = (i / s.rows) * s.steps * s.columns;
        double term =
            at(a, i * s.steps + k) *
            at(b, matrix + (transposed ? j * s.steps + k : k * s.columns + j));
        sum += term;
        magnitude += std::fabs(term);
      }
      double error = std::fabs(at(r, i * s.columns + j) - sum);
      worst = std::max(worst, magnitude ? error / magnitude : error);
    }
  return worst;
}
