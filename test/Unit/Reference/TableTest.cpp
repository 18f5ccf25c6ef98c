//===- TableTest.cpp - Tests of rotation tables ---------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"
#include <cmath>

using namespace mlir::rope::reference;

namespace {
/// A position, a frequency, and the f64 values nearest to cos and sin of their
/// product.
struct Point {
  std::variant<int64_t, double> position;
  double frequency, cos, sin;
};
} // namespace

/// Computed by mpmath with 400 bits. The last eight are the positions up to
/// 2^40 whose angles come nearest to a multiple of a quarter turn.
static const Point points[] = {
    {int64_t(0), 0x1.bb5fad00ab22cp-1, 1.0, 0.0},
    {int64_t(0), 0x1.7a66224a8fc07p-7, 1.0, 0.0},
    {int64_t(1), 0x1.7a66224a8fc07p-7, 0.9999333246693383,
     0.011547563194184837},
    {int64_t(1), 0x1.e459c57e28a47p-14, 0.9999999933323929,
     0.0001154781982122914},
    {int64_t(-1), 0x1.a115829457fbep-1, 0.686146891927544, -0.7274630180965705},
    {int64_t(-1), 0x1.1f91ef20d667dp-12, 0.9999999623939693,
     -0.00027424817223841217},
    {int64_t(4095), 0x1.75f034d79e965p-2, 0.9999494790715793,
     -0.010051830901747888},
    {int64_t(4095), 0x1.2c719ababcae3p-23, 0.9999998358864381,
     0.0005729110722983941},
    {int64_t(-131071), 0x1.74eea61c12623p-13, -0.2511409923754375,
     0.9679505162706823},
    {int64_t(-131071), 0x1.0000000000000p+0, -0.8179834993879491,
     0.5752416837547893},
    {int64_t(10000000), 0x1.bb5fad00ab22cp-1, 0.9866452133770411,
     0.16288407816656927},
    {int64_t(10000000), 0x1.7a66224a8fc07p-7, 0.8941389557446049,
     -0.4477896021793578},
    {int64_t(16777217), 0x1.e459c57e28a47p-14, -0.5736241970732513,
     0.8191185997961882},
    {int64_t(16777217), 0x1.a115829457fbep-1, 0.21572452469588071,
     0.9764542638775953},
    {int64_t(2147483647), 0x1.1f91ef20d667dp-12, -0.0931547885135848,
     0.9956516385649096},
    {int64_t(2147483647), 0x1.75f034d79e965p-2, -0.8342473838900355,
     0.5513903358534966},
    {int64_t(-2147483648), 0x1.2c719ababcae3p-23, 0.40928366206729955,
     0.9124071919733977},
    {int64_t(-2147483648), 0x1.74eea61c12623p-13, -0.999850860800937,
     0.017270094256408988},
    {int64_t(1099511627776), 0x1.0000000000000p+0, -0.914004071991557,
     -0.40570501153282873},
    {int64_t(1099511627776), 0x1.bb5fad00ab22cp-1, -0.10775554332298141,
     0.9941774202239604},
    {int64_t(-1099511627775), 0x1.7a66224a8fc07p-7, 0.8800010110221655,
     0.47497181032137725},
    {int64_t(-1099511627775), 0x1.e459c57e28a47p-14, 0.9673404595231526,
     0.25348064101531664},
    {int64_t(9007199254740993), 0x1.bb5fad00ab22cp-1, 0.8182184862413043,
     -0.5749073914753474},
    {int64_t(4611686018427387905), 0x1.a115829457fbep-1, 0.9989809173244094,
     -0.04513454133677968},
    {std::numeric_limits<int64_t>::min(), 0x1.e459c57e28a47p-14,
     0.8584610537722345, -0.5128787567800648},
    {int64_t(9223372036854775807), 0x1.75f034d79e965p-2, -0.9883592371344905,
     -0.1521381555393911},
    {0.5, 0x1.75f034d79e965p-2, 0.983377240026117, 0.18157423770627962},
    {-0.25, 0x1.e459c57e28a47p-14, 0.9999999995832746, -2.886954961322623e-05},
    {10000000.37, 0x1.2c719ababcae3p-23, 0.17090288278629887,
     0.9852878790766344},
    {-123456.789, 0x1.bb5fad00ab22cp-1, 0.713196187135027, -0.7009644774566395},
    {1099511627776.5, 0x1.7a66224a8fc07p-7, 0.8880959174779973,
     -0.4596581788230405},
    {1e-09, 0x1.7a66224a8fc07p-7, 1.0, 1.1547819846894581e-11},
    {int64_t(821823966386), 0x1.bb5fad00ab22cp-1, -6.123709493481114e-13, 1.0},
    {int64_t(688095748891), 0x1.7a66224a8fc07p-7, -9.487110610387591e-13, 1.0},
    {int64_t(223570380357), 0x1.e459c57e28a47p-14, -1.0, 6.821452082855057e-13},
    {int64_t(1092269582463), 0x1.a115829457fbep-1, 1.0,
     -1.0302674228782661e-12},
    {int64_t(232422911062), 0x1.1f91ef20d667dp-12, -4.118098615870289e-13, 1.0},
    {int64_t(336463531243), 0x1.75f034d79e965p-2, 1.1236881334103532e-12, -1.0},
    {int64_t(317033457850), 0x1.2c719ababcae3p-23, 8.733888581581831e-13, 1.0},
    {int64_t(877914602411), 0x1.74eea61c12623p-13, 1.0, -8.080396609113792e-13},
};

static Array makeSingle(const Positions &positions, double frequency,
                        AngleMode mode = AngleMode::Exact) {
  return makeTable({positions, Frequencies{{frequency}}, {}, mode});
}

TEST(ReferenceTable, HardPoints) {
  for (const Point &point : points) {
    Array table = std::visit(
        [&](auto position) {
          BasicArray<decltype(position)> scalar;
          scalar[0] = position;
          return makeSingle(scalar, point.frequency);
        },
        point.position);
    // Half a unit for each of the two roundings, and what the header promises.
    for (auto [value, exact] : {std::pair<double, double>{table[0], point.cos},
                                {table[1], point.sin}}) {
      double bound = 0x1p-60 + getUlp(exact, FloatFormat::F64);
      EXPECT_NEAR(value, exact, std::min(bound, 1.2e-16)) << point.frequency;
    }
  }
}

TEST(ReferenceTable, Shapes) {
  Frequencies frequencies{{1.0, 0.5, 0.25}};
  EXPECT_EQ(makeTable({Array(Shape{}), frequencies, {}}).getShape(),
            Shape({2, 3}));
  EXPECT_EQ(makeTable({IntArray({4, 5}), frequencies, {}}).getShape(),
            Shape({4, 5, 2, 3}));
  EXPECT_EQ(makeTable({IntArray({0}), frequencies, {}}).getShape(),
            Shape({0, 2, 3}));
  Array table = makeTable({IntArray({2}, {3, 7}), frequencies, {}});
  EXPECT_NEAR(table.at({1, 0, 1}), std::cos(3.5), 1e-15);
  EXPECT_NEAR(table.at({1, 1, 2}), std::sin(1.75), 1e-15);
}

TEST(ReferenceTable, MagnitudeScalesBothPlanes) {
  Array plain = tableAt(-3, 2, 5, 4);
  Array scaled = tableAt(-3, 2, 5, 4, 100.0, 1.25);
  for (int64_t i = 0; i < plain.getNumElements(); ++i)
    EXPECT_NEAR(scaled[i], 1.25 * plain[i], 4e-16);
}

TEST(ReferenceTable, EachPairNamesItsAxis) {
  Frequencies frequencies = getFrequencies(DefaultSchedule{1e6}, 8);
  std::vector<int64_t> axes = {0, 0, 1, 1, 1, 2, 2, 2};
  IntArray positions({3, 2}, {5, 6, 70, 80, 900, 1000});
  Array table = makeTable({positions, frequencies, axes});
  EXPECT_EQ(table.getShape(), Shape({2, 2, 8}));
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < 8; ++i) {
      double angle = positions.at({axes[i], row}) * frequencies.values[i];
      EXPECT_NEAR(table.at({row, 0, i}), std::cos(angle), 1e-12);
      EXPECT_NEAR(table.at({row, 1, i}), std::sin(angle), 1e-12);
    }
}

TEST(ReferenceTable, RefusesWrongAxes) {
  auto getError = [](const Positions &positions,
                     const std::vector<int64_t> &axes) {
    return findError(TableInputs{positions, Frequencies{{1.0, 0.5}}, axes})
        .value_or("");
  };
  EXPECT_EQ(getError(IntArray({2, 3}), {0, 1}), "");
  EXPECT_EQ(getError(IntArray({2, 3}), {0}), "1 axes for 2 pairs");
  EXPECT_EQ(getError(IntArray({2, 3}), {0, 2}),
            "axis 2 of positions with 2 axes");
  EXPECT_EQ(getError(IntArray({2, 3}), {-1, 0}),
            "axis -1 of positions with 2 axes");
  EXPECT_EQ(getError(Array(), {0, 0}),
            "positions of several axes need an axis dim");
  EXPECT_DEATH(makeTable({Array(), Frequencies{{1.0}}, {0}}), "axis dim");
}

TEST(ReferenceTable, F32AngleRoundsEachStep) {
  // f32(16777217) = 16777216 and f32(0.1) > 0.1; 131071 · 0.1 rounds again.
  for (double position : {131071.0, 16777217.0, 1e7 + 0.3, -5.0}) {
    volatile float p = static_cast<float>(position);
    volatile float w = 0.1f;
    volatile float angle = p * w;
    Array table = makeSingle(Array({1}, {position}), 0.1, AngleMode::F32Angle);
    EXPECT_NEAR(table[0], std::cos(static_cast<double>(angle)), 1e-15);
    EXPECT_NEAR(table[1], std::sin(static_cast<double>(angle)), 1e-15);
    Array exact = makeSingle(Array({1}, {position}), 0.1);
    if (position > 0.0) {
      EXPECT_GT(getMaxAbsError(table, exact), 1e-5);
    }
  }
  // Directly to f32: by way of f64 this would be a tie, rounded down.
  int64_t position = (int64_t(1) << 54) + (int64_t(1) << 30) + 1;
  double angle = 0x1p54 + 0x1p31;
  Array table = makeSingle(IntArray({1}, {position}), 1.0, AngleMode::F32Angle);
  EXPECT_NEAR(table[0], std::cos(angle), 1e-15);
}

TEST(ReferenceTable, F32QuotientDividesByTheTimescale) {
  int differing = 0;
  for (double frequency : getFrequencies(DefaultSchedule{}, 64).values)
    for (int64_t position : {4095, 131071, 9999999}) {
      volatile float p = static_cast<float>(position);
      volatile float timescale = static_cast<float>(1.0 / frequency);
      volatile float angle = p / timescale;
      Array table = makeSingle(IntArray({1}, {position}), frequency,
                               AngleMode::F32Quotient);
      EXPECT_NEAR(table[0], std::cos(static_cast<double>(angle)), 1e-15);
      EXPECT_NEAR(table[1], std::sin(static_cast<double>(angle)), 1e-15);
      // Another rounding of the constant, and a product, are other functions.
      volatile float inverse = 1.0f / static_cast<float>(frequency);
      differing += timescale != inverse;
      differing += angle != p * static_cast<float>(frequency);
    }
  EXPECT_GT(differing, 100);
  // A pair that does not turn has an infinite timescale.
  Array still = makeSingle(IntArray({1}, {7}), 0.0, AngleMode::F32Quotient);
  EXPECT_EQ(still.getElements(), std::vector<double>({1.0, 0.0}));
}

TEST(ReferenceTable, AssembleStacksThePlanes) {
  Random random(21);
  Array cos = random.array({2, 3, 4}), sin = random.array({2, 3, 4});
  Array table = assemble(cos, sin);
  EXPECT_EQ(table.getShape(), Shape({2, 3, 2, 4}));
  EXPECT_EQ(table.at({1, 2, 0, 3}), cos.at({1, 2, 3}));
  EXPECT_EQ(table.at({0, 1, 1, 2}), sin.at({0, 1, 2}));
  EXPECT_EQ(assemble(Array({4}), Array({4})).getShape(), Shape({2, 4}));
  EXPECT_TRUE(findAssembleError(Array({4}), Array({3})));
  EXPECT_TRUE(findAssembleError(Array(), Array()));
  EXPECT_DEATH(assemble(Array({4}), Array({3})), "cos of shape");
}

TEST(ReferenceTable, ComposeAddsPositions) {
  Array sum = compose(tableAt(100, 3, 6, 8), tableAt(-40, 2, 6, 8));
  EXPECT_ARRAY_NEAR(sum, tableAt(60, 5, 6, 8), 3e-16);
  Array product = compose(tableAt(100, 3, 6, 8, 100.0, 1.5),
                          tableAt(-40, 2, 6, 8, 100.0, 0.5));
  EXPECT_ARRAY_NEAR(product, tableAt(60, 5, 6, 8, 100.0, 0.75), 3e-16);
}

TEST(ReferenceTable, ComposeInverseDividesMagnitudes) {
  Array quotient = compose(tableAt(100, 3, 6, 8, 100.0, 1.5),
                           tableAt(-40, 2, 6, 8, 100.0, 0.5), /*inverse=*/true);
  EXPECT_ARRAY_NEAR(quotient, tableAt(140, 1, 6, 8, 100.0, 3.0), 1e-15);
}

TEST(ReferenceTable, ComposeRefusesWrongShapes) {
  EXPECT_FALSE(findComposeError(Array({3, 2, 4}), Array({3, 2, 4})));
  EXPECT_TRUE(findComposeError(Array({3, 2, 4}), Array({2, 2, 4})));
  EXPECT_TRUE(findComposeError(Array({3, 4}), Array({3, 4})));
  EXPECT_TRUE(findComposeError(Array({2}), Array({2})));
  EXPECT_DEATH(compose(Array({3, 4}), Array({3, 4})), "no table");
}
