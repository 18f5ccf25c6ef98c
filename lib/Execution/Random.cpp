//===- Random.cpp - NumPy's random numbers --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Random.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cmath>

using namespace mlir::rope;

namespace {

/// NumPy's SeedSequence: mixes a list of numbers into a pool of four words, and
/// draws the state of a generator from it.
class SeedSequence {
public:
  explicit SeedSequence(llvm::ArrayRef<uint32_t> entropy);
  std::array<uint64_t, 4> generate() const;

private:
  uint32_t hash(uint32_t value);

  std::array<uint32_t, 4> pool = {};
  uint32_t hashConstant = 0x43b0d7e5;
};

/// The layers of the ziggurat under exp(-x²/2). Layer i reaches from 0 to
/// width[i] · 2^52; all but `accept[i]` of its 2^52 positions lie under the
/// curve for certain.
struct Ziggurat {
  Ziggurat();
  std::array<double, 256> width, height;
  std::array<uint64_t, 256> accept;
};

} // namespace

/// Where the tail of the ziggurat begins.
static constexpr double kTail = 3.6541528853610087963519472518;
static constexpr double kPositions = 0x1p52;

static uint32_t mix(uint32_t x, uint32_t y) {
  uint32_t result = 0xca01f9dd * x - 0x4973f715 * y;
  return result ^ (result >> 16);
}

uint32_t SeedSequence::hash(uint32_t value) {
  value ^= hashConstant;
  hashConstant *= 0x931e8875;
  value *= hashConstant;
  return value ^ (value >> 16);
}

SeedSequence::SeedSequence(llvm::ArrayRef<uint32_t> entropy) {
  for (size_t i = 0; i != pool.size(); ++i)
    pool[i] = hash(i < entropy.size() ? entropy[i] : 0);
  for (size_t source = 0; source != pool.size(); ++source)
    for (size_t target = 0; target != pool.size(); ++target)
      if (source != target)
        pool[target] = mix(pool[target], hash(pool[source]));
  for (size_t source = pool.size(); source < entropy.size(); ++source)
    for (uint32_t &target : pool)
      target = mix(target, hash(entropy[source]));
}

std::array<uint64_t, 4> SeedSequence::generate() const {
  std::array<uint64_t, 4> words = {};
  uint32_t constant = 0x8b51f9dd;
  for (size_t i = 0; i != 2 * words.size(); ++i) {
    uint32_t value = pool[i % pool.size()] ^ constant;
    constant *= 0x58f38ded;
    value *= constant;
    value ^= value >> 16;
    words[i / 2] |= static_cast<uint64_t>(value) << (32 * (i % 2));
  }
  return words;
}

RandomGenerator::RandomGenerator(llvm::ArrayRef<uint32_t> entropy) {
  std::array<uint64_t, 4> words = SeedSequence(entropy).generate();
  auto join = [](uint64_t high, uint64_t low) {
    return (static_cast<unsigned __int128>(high) << 64) | low;
  };
  increment = (join(words[2], words[3]) << 1) | 1;
  step();
  state += join(words[0], words[1]);
  step();
}

void RandomGenerator::step() {
  constexpr unsigned __int128 multiplier =
      (static_cast<unsigned __int128>(0x2360ed051fc65da4) << 64) |
      0x4385df649fccf645;
  state = state * multiplier + increment;
}

uint64_t RandomGenerator::next64() {
  step();
  auto folded =
      static_cast<uint64_t>(state >> 64) ^ static_cast<uint64_t>(state);
  return llvm::rotr<uint64_t>(folded, static_cast<int>(state >> 122));
}

uint32_t RandomGenerator::next32() {
  if (hasSpare) {
    hasSpare = false;
    return spare;
  }
  uint64_t value = next64();
  hasSpare = true;
  spare = value >> 32;
  return value;
}

double RandomGenerator::nextDouble() { return (next64() >> 11) * 0x1p-53; }

Ziggurat::Ziggurat() {
  double edge = kTail, edgeHeight = std::exp(-0.5 * edge * edge);
  // Every layer has this area. The lowest one includes the tail.
  double area =
      edge * edgeHeight + std::sqrt(M_PI_2) * std::erfc(edge * M_SQRT1_2);
  width[255] = edge / kPositions;
  height[255] = edgeHeight;
  accept[0] = static_cast<uint64_t>(edge * edgeHeight / area * kPositions);
  width[0] = area / edgeHeight / kPositions;
  height[0] = 1;
  for (int i = 254; i > 0; --i) {
    double x = std::sqrt(-2 * std::log(area / edge + height[i + 1]));
    accept[i + 1] = static_cast<uint64_t>(x / edge * kPositions);
    width[i] = x / kPositions;
    height[i] = std::exp(-0.5 * x * x);
    edge = x;
  }
  accept[1] = 0;
}

double RandomGenerator::nextNormal() {
  static const Ziggurat table;
  while (true) {
    uint64_t bits = next64();
    unsigned layer = bits & 0xff;
    bits >>= 8;
    uint64_t position = (bits >> 1) & 0x000fffffffffffff;
    double x = position * table.width[layer];
    if (bits & 1)
      x = -x;
    if (position < table.accept[layer])
      return x;
    if (layer != 0) {
      double low = table.height[layer], high = table.height[layer - 1];
      if ((high - low) * nextDouble() + low < std::exp(-0.5 * x * x))
        return x;
      continue;
    }
    while (true) {
      double over = -std::log1p(-nextDouble()) / kTail;
      double y = -std::log1p(-nextDouble());
      if (2 * y > over * over)
        return (position >> 8) & 1 ? -(kTail + over) : kTail + over;
    }
  }
}

uint64_t RandomGenerator::nextBelow(uint64_t bound) {
  if (bound <= 1)
    return 0;
  if (bound == uint64_t(1) << 32)
    return next32();
  auto narrow = static_cast<uint32_t>(bound);
  uint64_t product = uint64_t(next32()) * narrow;
  if (static_cast<uint32_t>(product) < narrow) {
    uint32_t threshold = -narrow % narrow;
    while (static_cast<uint32_t>(product) < threshold)
      product = uint64_t(next32()) * narrow;
  }
  return product >> 32;
}
