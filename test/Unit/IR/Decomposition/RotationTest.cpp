//===- RotationTest.cpp - Numbers of rope.rotate and rope.rerotate --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random rotations, decomposed and compiled, against the reference: on tensors
// and memrefs, in place and not.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Rotation.h"
#include "Support/Numbers.h"
#include "Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

namespace {
/// One rotate or rerotate op.
struct Config {
  DType type, tableType;
  reference::Shape shape;
  /// The shape in the text: some extents are −1.
  reference::Shape declared;
  reference::Rotary rotary;
  int64_t width;
  bool opposite, onMemrefs, inPlace;

  reference::Shape getTableShape(const reference::Shape &of) const {
    reference::Shape table;
    for (int64_t dim : rotary.along)
      table.push_back(of[dim]);
    table.insert(table.end(), {2, width});
    return table;
  }
};
} // namespace

static const DType kTypes[] = {DType::F32, DType::BF16, DType::F16, DType::F64};

static std::vector<int64_t> drawAlong(int64_t dims, RandomGenerator &random) {
  std::vector<int64_t> along;
  for (int64_t dim = 0; dim < dims; ++dim)
    if (random.nextBelow(3))
      along.insert(along.begin() + random.nextBelow(along.size() + 1), dim);
  return along;
}

static Config draw(RandomGenerator &random) {
  Config config;
  config.type = kTypes[random.nextBelow(4)];
  config.tableType = kTypes[random.nextBelow(4)];
  int64_t dims = random.nextBelow(4), pairs = 1 + random.nextBelow(9);
  for (int64_t dim = 0; dim < dims; ++dim) {
    config.shape.push_back(random.nextBelow(20) ? 1 + random.nextBelow(5) : 0);
    config.declared.push_back(random.nextBelow(2) ? -1 : config.shape.back());
  }
  auto drawPairing = [&] {
    return random.nextBelow(2) ? reference::Pairing::Half
                               : reference::Pairing::Interleaved;
  };
  reference::Rotary &rotary = config.rotary;
  rotary.read = drawPairing();
  rotary.write = drawPairing();
  rotary.offset = random.nextBelow(2) ? 0 : random.nextBelow(4);
  int64_t reach = rotary.offset + 2 * pairs;
  if (rotary.read == reference::Pairing::Half && rotary.write == rotary.read &&
      random.nextBelow(2)) {
    rotary.distance = pairs + random.nextBelow(4);
    reach = rotary.offset + pairs + *rotary.distance;
  }
  config.shape.push_back(reach +
                         (random.nextBelow(2) ? 0 : random.nextBelow(4)));
  config.declared.push_back(config.shape.back());
  rotary.along = drawAlong(dims, random);
  rotary.full = random.nextBelow(3) == 0;
  config.width = rotary.full ? 2 * pairs : pairs;
  config.opposite = random.nextBelow(2);
  config.onMemrefs = random.nextBelow(2);
  config.inPlace = random.nextBelow(2);
  return config;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static StringRef getKeyword(reference::Pairing pairing) {
  return pairing == reference::Pairing::Half ? "half" : "interleaved";
}

static std::string getRotary(const reference::Rotary &rotary) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "<" << getKeyword(rotary.read);
  if (rotary.write && *rotary.write != rotary.read)
    stream << " to " << getKeyword(*rotary.write);
  stream << " offset = " << rotary.offset;
  if (rotary.distance)
    stream << " distance = " << *rotary.distance;
  stream << " along [";
  llvm::interleaveComma(rotary.along, stream);
  stream << "]" << (rotary.full ? " full = true" : "") << ">";
  return text;
}

static std::string getType(const Config &config, DType dtype,
                           const reference::Shape &shape) {
  std::string type = getTensorType(dtype, shape);
  return config.onMemrefs ? "memref" + type.substr(strlen("tensor")) : type;
}

static std::string getFunction(const Config &config, size_t index) {
  std::string x = getType(config, config.type, config.declared);
  std::string t =
      getType(config, config.tableType, config.getTableShape(config.declared));
  std::string result = config.onMemrefs ? "" : " -> " + x;
  std::string text;
  llvm::raw_string_ostream(text)
      << "func.func @f" << index << "(%x: " << x << ", %t: " << t
      << ", %init: " << x << ")" << result << " {\n  "
      << (config.onMemrefs ? "" : "%y = ") << "rope."
      << (config.opposite ? "rerotate " : "rotate ") << getRotary(config.rotary)
      << " ins(%x, %t : " << x << ", " << t << ") outs("
      << (config.inPlace ? "%x" : "%init") << " : " << x << ")" << result
      << "\n  return" << (config.onMemrefs ? "" : " %y : " + x) << "\n}\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static reference::Array getAbs(reference::Array array) {
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array[i] = std::fabs(array[i]);
  return array;
}

/// |u·c| + |v·s| of each element: what the products are rounded to.
static reference::Array getScale(const reference::Array &x,
                                 const reference::RoleRotation &rotation) {
  reference::RoleRotation abs{getAbs(rotation.table), rotation.rotary};
  reference::Array scale = reference::rotate(getAbs(x), abs);
  reference::Array other = reference::rerotate(getAbs(x), abs);
  for (int64_t i = 0; i < scale.getNumElements(); ++i)
    scale[i] = std::max(scale[i], other[i]);
  return scale;
}

static void check(const Program &program, const Config &config, size_t index,
                  RandomGenerator &random) {
  Array x = makeRandom(config.type, config.shape, random);
  Array t =
      makeRandom(config.tableType, config.getTableShape(config.shape), random);
  Array init = makeFilled(config.type, config.shape, std::nan(""));
  reference::Array before = toReference(x);
  reference::RoleRotation rotation{toReference(t), config.rotary};
  SmallVector<Array> results =
      program.call("f" + std::to_string(index), x, t, init);
  const Array &got =
      config.onMemrefs ? (config.inPlace ? x : init) : results.front();
  reference::Array want = config.opposite
                              ? reference::rerotate(before, rotation)
                              : reference::rotate(before, rotation);
  // One unit if products are fused with sums, else half a unit more. The
  // reference itself is off by a rounding or two of f64.
  static const bool fuses = llvm::sys::getHostCPUFeatures().lookup("fma");
  double bound = config.type == DType::F64 ? 3 : fuses ? 1.05 : 1.55;
  EXPECT_LE(getMaxUlpError(got, want, getScale(before, rotation)), bound)
      << getFunction(config, index);
  if (!config.onMemrefs)
    EXPECT_EQ(toReference(x).getElements(), before.getElements())
        << "wrote to its input: " << getFunction(config, index);
}

static void checkRandom(uint32_t seed, int64_t count) {
  RandomGenerator random({seed});
  std::vector<Config> configs;
  std::string text;
  for (int64_t index = 0; index < count; ++index) {
    configs.push_back(draw(random));
    text += getFunction(configs.back(), index);
  }
  Program program(text);
  for (auto [index, config] : llvm::enumerate(configs))
    check(program, config, index, random);
}

TEST(Rotation, RandomConfigurations1) { checkRandom(1, 60); }
TEST(Rotation, RandomConfigurations2) { checkRandom(2, 60); }
TEST(Rotation, RandomConfigurations3) { checkRandom(3, 60); }

TEST(Rotation, OtherChannelsAreCopiedWhateverTheyHold) {
  Program program(R"mlir(
    !X = tensor<?x7xf16>
    !T = tensor<?x2x2xf32>
    func.func @f(%x: !X, %t: !T, %init: !X) -> !X {
      %y = rope.rotate <half offset = 1 distance = 3 along [0]> ins(%x, %t : !X, !T) outs(%init : !X) -> !X
      return %y : !X
    })mlir");
  double inf = std::numeric_limits<double>::infinity();
  Array x = makeArray(DType::F16, reference::Array({1, 7}, {inf, 1, 2, -inf, 3,
                                                            4, std::nan("")}));
  Array t = makeArray(DType::F32, reference::Array({1, 2, 2}, {0, 0, 1, 1}));
  Array init = makeFilled(DType::F16, {1, 7}, 9);
  reference::Array got = toReference(program.call("f", x, t, init).front());
  EXPECT_TRUE(std::isnan(got[6]));
  got[6] = 0;
  EXPECT_EQ(got.getElements(),
            (std::vector<double>{inf, -3, -4, -inf, 1, 2, 0}));
}

TEST(Rotation, PositionZeroIsTheIdentity) {
  Program program(R"mlir(
    !X = tensor<4x?x8xf32>
    !T = tensor<?x2x4xf32>
    func.func @f(%x: !X, %t0: !T, %init: !X) -> !X {
      %zero = arith.constant 0 : index
      %t = rope.table #rope.default<1.0e4> ins(%zero : index) outs(%t0 : !T) -> !T
      %y = rope.rotate <interleaved along [1]> ins(%x, %t : !X, !T) outs(%init : !X) -> !X
      return %y : !X
    })mlir");
  RandomGenerator random({5});
  Array x = makeRandom(DType::F32, {4, 1, 8}, random);
  Array t = makeFilled(DType::F32, {1, 2, 4}, std::nan(""));
  Array init = makeFilled(DType::F32, {4, 1, 8}, std::nan(""));
  EXPECT_EQ(toReference(program.call("f", x, t, init).front()).getElements(),
            toReference(x).getElements());
}

/// More rows of the table than are kept while all heads pass.
TEST(Rotation, HeadsShareALongTable) {
  Config config;
  config.type = config.tableType = DType::F32;
  config.shape = {2, 1100, 9};
  config.declared = {2, -1, 9};
  config.rotary.along = {1};
  config.rotary.read = reference::Pairing::Half;
  config.rotary.offset = 1;
  config.width = 4;
  config.opposite = config.onMemrefs = config.inPlace = false;
  Program program(getFunction(config, 0));
  RandomGenerator random({9});
  check(program, config, 0, random);
}

/// What follows writes past the caches where that can be.
static ProgramOptions getStreaming() {
  ProgramOptions options;
  options.compile.pipelineOptions = "stream-bytes=1";
  return options;
}

TEST(Rotation, ResultsPastTheCaches) {
  for (const auto &[type, along] :
       {std::pair(DType::F32, std::vector<int64_t>{2}),
        {DType::F32, {0, 2}},
        {DType::BF16, {1}},
        {DType::BF16, {2, 1, 0}}}) {
    Config config;
    config.type = type;
    config.tableType = DType::F32;
    config.shape = {2, 6, 7, 64};
    config.declared = {2, -1, 7, 64};
    config.rotary.along = along;
    config.width = 32;
    config.opposite = config.inPlace = false;
    for (bool onMemrefs : {false, true}) {
      config.onMemrefs = onMemrefs;
      Program program(getFunction(config, 0), getStreaming());
      RandomGenerator random({9});
      check(program, config, 0, random);
    }
  }
}

/// Lines of the cache that are not written whole are written in the ordinary
/// way, be it that rows start within a line or that they are some bytes apart.
TEST(Rotation, ResultsAcrossLines) {
  Program program(R"mlir(
    !X = memref<5x16xf32>
    !T = memref<5x2x8xf32>
    !V = memref<5x16xf32, strided<[?, 1], offset: ?>>
    func.func @f(%x: !X, %t: !T, %y: memref<512xf32>, %offset: index, %stride: index) {
      %v = memref.reinterpret_cast %y to offset: [%offset], sizes: [5, 16], strides: [%stride, 1] : memref<512xf32> to !V
      rope.rotate <half along [0]> ins(%x, %t : !X, !T) outs(%v : !V)
      return
    })mlir",
                  getStreaming());
  RandomGenerator random({8});
  Array x = makeRandom(DType::F32, {5, 16}, random);
  Array t = makeRandom(DType::F32, {5, 2, 8}, random);
  reference::Rotary rotary;
  rotary.along = {0};
  reference::Array want =
      reference::rotate(toReference(x), {toReference(t), rotary});
  for (auto [first, distance] :
       {std::pair(0, 16), {16, 48}, {8, 16}, {0, 24}}) {
    Array y = makeFilled(DType::F32, {512}, 9);
    Array offset = makeArray(DType::I64, reference::IntArray({}, {first}));
    Array stride = makeArray(DType::I64, reference::IntArray({}, {distance}));
    program.call("f", x, t, y, offset, stride);
    reference::Array all = toReference(y);
    for (int64_t i = 0; i < 512; ++i) {
      int64_t row = (i - first) / distance, channel = (i - first) % distance;
      if (i < first || row >= 5 || channel >= 16)
        EXPECT_EQ(all[i], 9);
      else
        EXPECT_NEAR(all[i], want[row * 16 + channel], 3e-7);
    }
  }
}

/// A branch and a loop may bring the memref that is read to where is written.
TEST(Rotation, MemoryBehindRegionsMayOverlap) {
  Program program(R"mlir(
    !X = memref<?x8xf32>
    !T = memref<?x2x4xf32>
    !V = memref<?x8xf32, strided<[8, 1], offset: ?>>
    func.func @f(%x: !X, %t: !T, %n: index, %apart: i1) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %from = memref.subview %x[%c0, 0] [%n, 8] [1, 1] : !X to !V
      %near = memref.subview %x[%c1, 0] [%n, 8] [1, 1] : !X to !V
      %far = memref.subview %x[%n, 0] [%n, 8] [1, 1] : !X to !V
      %to = scf.if %apart -> !V {
        scf.yield %far : !V
      } else {
        %same = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %near) -> !V {
          scf.yield %v : !V
        }
        scf.yield %same : !V
      }
      rope.rotate <half along [0]> ins(%from, %t : !V, !T) outs(%to : !V)
      return
    })mlir");
  int64_t rows = 4;
  RandomGenerator random({7});
  Array t = makeRandom(DType::F32, {rows, 2, 4}, random);
  Array n = makeArray(DType::I64, reference::IntArray({}, {rows}));
  reference::Rotary rotary;
  rotary.along = {0};
  for (bool apart : {true, false}) {
    Array x = makeRandom(DType::F32, {2 * rows, 8}, random);
    reference::Array moved = reference::rotate(toReference(x).slice(0, 0, rows),
                                               {toReference(t), rotary});
    Array flag = makeArray(DType::I1, reference::IntArray({}, {apart}));
    program.call("f", x, t, n, flag);
    reference::Array got = toReference(x).slice(0, apart ? rows : 1, rows);
    EXPECT_LE(reference::getMaxAbsError(got, moved), 3e-7);
  }
}

/// Ops with and without a form of their own on memrefs, views of one memref,
/// and accesses of others between them.
TEST(Rotation, MemoryIsReadAndWrittenInOrder) {
  Program program(R"mlir(
    !X = memref<?x8xf32>
    !T = memref<?x2x4xf32>
    !V = memref<?x8xf32, strided<[8, 1], offset: ?>>
    func.func @f(%x: !X, %t: !T, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      // Overlapping views of one memref: row i of the result is row i + 1.
      %from = memref.subview %x[1, 0] [%n, 8] [1, 1] : !X to memref<?x8xf32, strided<[8, 1], offset: 8>>
      %to = memref.subview %x[0, 0] [%n, 8] [1, 1] : !X to memref<?x8xf32, strided<[8, 1]>>
      %from1 = memref.cast %from : memref<?x8xf32, strided<[8, 1], offset: 8>> to !V
      %to1 = memref.cast %to : memref<?x8xf32, strided<[8, 1]>> to !V
      %tn = memref.subview %t[0, 0, 0] [%n, 2, 4] [1, 1, 1] : !T to memref<?x2x4xf32, strided<[8, 4, 1]>>
      rope.table #rope.default<1.0e4> ins(%c0 : index) outs(%t : !T)
      rope.rotate <half along [0]> ins(%from1, %tn : !V, memref<?x2x4xf32, strided<[8, 4, 1]>>) outs(%to1 : !V)
      rope.table #rope.default<1.0e4> ins(%c1 : index) outs(%t : !T)
      rope.rotate <interleaved to half along [0]> ins(%x, %t : !X, !T) outs(%x : !X)
      %v = memref.load %t[%c0, %c0, %c0] : !T
      rope.compose ins(%t, inverse %t : !T, !T) outs(%t : !T)
      memref.store %v, %t[%c0, %c0, %c0] : !T
      rope.rerotate <interleaved along [0]> ins(%x, %t : !X, !T) outs(%x : !X)
      return
    })mlir");
  int64_t rows = 6;
  RandomGenerator random({6});
  Array x = makeRandom(DType::F32, {rows, 8}, random);
  Array t = makeFilled(DType::F32, {rows, 2, 4}, std::nan(""));
  Array n = makeArray(DType::I64, reference::IntArray({}, {rows - 1}));
  reference::Array state = toReference(x);

  auto makeTable = [&](int64_t start) {
    reference::Array table({rows, 2, 4});
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < 4; ++i) {
        double angle = (start + row) * std::pow(1e4, -i / 4.0);
        table[row * 8 + i] = std::cos(angle);
        table[row * 8 + 4 + i] = std::sin(angle);
      }
    return table;
  };
  reference::Rotary rotary;
  rotary.along = {0};
  reference::Array moved =
      reference::rotate(state.slice(0, 1, rows - 1),
                        {makeTable(0).slice(0, 0, rows - 1), rotary});
  state = reference::Array::concat({moved, state.slice(0, rows - 1, 1)}, 0);
  rotary.read = reference::Pairing::Interleaved;
  rotary.write = reference::Pairing::Half;
  state = reference::rotate(state, {makeTable(1), rotary});
  reference::Array quotient({rows, 2, 4});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < 4; ++i)
      quotient[row * 8 + i] = 1;
  quotient[0] = std::cos(1);
  rotary.write = rotary.read;
  state = reference::rerotate(state, {quotient, rotary});

  program.call("f", x, t, n);
  EXPECT_LE(reference::getMaxAbsError(toReference(x), state), 2e-6);
  EXPECT_LE(reference::getMaxAbsError(toReference(t), quotient), 1e-6);
}
