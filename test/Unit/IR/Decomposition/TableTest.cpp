//===- TableTest.cpp - Numbers of rope.table ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decomposed, compiled tables against the reference, which reduces angles in
// long double: every schedule, type of position, angle mode and type of table.
//
// The reference gets the frequencies of the attribute, so that a difference in
// the last bit of a frequency is not taken for an error of an angle.
//
//===----------------------------------------------------------------------===//

#include "rope/Reference/Table.h"
#include "Support/Numbers.h"
#include "Support/Program.h"
#include "mlir/AsmParser/AsmParser.h"
#include "rope/IR/Rope.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::test;

/// The bound that rope.table states for f32 tables of magnitude 1.
static constexpr double kBound = 1.5e-7;
static constexpr int64_t kRows = 512, kPairs = 32;

namespace {
/// One rope.table op.
struct Config {
  std::string schedule;
  DType positions = DType::I64;
  reference::AngleMode mode = reference::AngleMode::Exact;
  DType table = DType::F32;
  std::optional<int64_t> length = std::nullopt;
};
} // namespace

static StringRef getKeyword(reference::AngleMode mode) {
  switch (mode) {
  case reference::AngleMode::Exact:
    return "";
  case reference::AngleMode::F32Angle:
    return "f32_angle";
  case reference::AngleMode::F32Quotient:
    return "f32_quotient";
  }
  llvm_unreachable("unknown mode");
}

/// Function @f<index> with the operands positions, length and init.
static std::string getFunction(const Config &config, size_t index) {
  std::string positions = getTensorType(config.positions, {-1});
  std::string table = getTensorType(config.table, {-1, 2, kPairs});
  std::string text;
  llvm::raw_string_ostream(text)
      << "func.func @f" << index << "(%p: " << positions
      << ", %length: index, %init: " << table << ") -> " << table << " {\n"
      << "  %t = rope.table " << config.schedule << " ins(%p : " << positions
      << ")" << (config.length ? " length(%length) " : " ")
      << getKeyword(config.mode) << " outs(%init : " << table << ") -> "
      << table << "\n  return %t : " << table << "\n}\n";
  return text;
}

static reference::Frequencies getFrequencies(const Config &config) {
  MLIRContext context;
  context.loadDialect<RopeDialect>();
  auto attr = dyn_cast_or_null<FrequencyAttrInterface>(
      parseAttribute(config.schedule, &context));
  if (!attr)
    reference::reportInvalid("no schedule: " + config.schedule);
  SmallVector<double> values = attr.computeFrequencies(kPairs, config.length);
  return {std::vector<double>(values.begin(), values.end()),
          attr.computeMagnitude()};
}

/// Positions that fit the type: small ones, both signs, up to `limit`, near
/// powers of two; fractions in floats.
static Array makePositions(DType dtype, double limit, RandomGenerator &random) {
  std::vector<double> values;
  for (int64_t row = 0; row < kRows; ++row) {
    double size = row % 4 == 0 ? 0 : limit * random.nextDouble();
    if (row % 4 == 1)
      size = std::exp2(std::floor(std::log2(limit) * random.nextDouble())) - 1;
    double position = row % 4 == 0 ? row : (row % 8 < 4 ? size : -size);
    values.push_back(rope::isFloat(dtype) ? position : std::round(position));
  }
  reference::Array array({kRows}, std::move(values));
  if (rope::isFloat(dtype))
    return makeArray(dtype, array);
  reference::IntArray integers(array.getShape());
  for (int64_t row = 0; row < kRows; ++row)
    integers[row] = static_cast<int64_t>(array[row]);
  return makeArray(dtype, integers);
}

/// The largest error beyond the rounding to a narrow type, in units of the
/// magnitude.
static double getError(const Array &got, const reference::Array &want,
                       double magnitude) {
  reference::Array values = toReference(got);
  double largest = 0;
  for (int64_t i = 0; i < want.getNumElements(); ++i) {
    double error = std::fabs(values[i] - want[i]);
    if (getByteSize(got.getDType()) == 2)
      error -= reference::getUlp(want[i], getFormat(got.getDType())) / 2;
    largest = std::isfinite(values[i])
                  ? std::max(largest, error)
                  : std::numeric_limits<double>::infinity();
  }
  return largest / magnitude;
}

/// Compiles all configurations at once and checks each for positions up to
/// `limit`.
static void check(const std::vector<Config> &configs, double limit,
                  double bound) {
  std::string text;
  for (auto [index, config] : llvm::enumerate(configs))
    text += getFunction(config, index);
  Program program(text);
  RandomGenerator random({42});
  for (auto [index, config] : llvm::enumerate(configs)) {
    Array positions = makePositions(config.positions, limit, random);
    Array length = makeArray(
        DType::I64, reference::IntArray({}, {config.length.value_or(0)}));
    Array init = makeFilled(config.table, {kRows, 2, kPairs}, std::nan(""));
    Array got = std::move(
        program.call("f" + std::to_string(index), positions, length, init)
            .front());
    reference::TableInputs inputs{
        toReference(positions), getFrequencies(config), {}, config.mode};
    if (!rope::isFloat(config.positions))
      inputs.positions = toIntegers(positions);
    double error = getError(got, reference::makeTable(inputs),
                            inputs.frequencies.magnitude);
    EXPECT_LE(error, bound)
        << config.schedule << " of " << getTypeName(config.positions) << " "
        << getKeyword(config.mode).str() << " to " << getTypeName(config.table);
  }
}

/// Schedules with each base θ that models use.
static std::vector<Config> getSchedules() {
  std::vector<Config> configs;
  for (std::string theta : {"1.0e4", "5.0e5", "1.0e6", "1.0e7"}) {
    std::string scaled = "<theta = " + theta + ", factor = ";
    configs.push_back({"#rope.default<" + theta + ">"});
    configs.push_back({"#rope.linear" + scaled + "4.0>"});
    configs.push_back({"#rope.ntk" + scaled + "8.0>"});
    configs.push_back({"#rope.yarn" + scaled + "40.0, trained = 4096>"});
    configs.push_back({"#rope.llama3" + scaled +
                       "8.0, low = 1.0, high = 4.0, trained = 8192>"});
    configs.push_back(
        {"#rope.proportional<theta = " + theta + ", share = 0.25>"});
  }
  return configs;
}

/// A list of `count` numbers from `first` on, each `factor` times the last.
static std::string getList(double first, double factor, int64_t count) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t i = 0; i < count; ++i, first *= factor)
    stream << (i ? ", " : "[") << llvm::format("%.17e", first);
  stream << "]";
  return text;
}

/// Schedules that depend on the length, on both sides of the trained one.
static std::vector<Config> getLengthDependentSchedules() {
  std::vector<Config> configs;
  for (int64_t length : {1, 2048, 2049, 100000})
    for (std::string theta : {"1.0e4", "1.0e7"}) {
      Config config;
      config.length = length;
      config.schedule = "#rope.dynamic_ntk<theta = " + theta +
                        ", factor = 2.0, trained = 2048>";
      configs.push_back(config);
      config.schedule = "#rope.longrope<theta = " + theta +
                        ", short_factors = " + getList(1, 1, kPairs) +
                        ", long_factors = " + getList(1, 1.2, kPairs) +
                        ", trained = 2048, magnitude = 1.19>";
      configs.push_back(config);
    }
  return configs;
}

static std::vector<Config> withModes(const std::vector<Config> &configs,
                                     ArrayRef<reference::AngleMode> modes) {
  std::vector<Config> result;
  for (Config config : configs)
    for (reference::AngleMode mode : modes) {
      config.mode = mode;
      result.push_back(config);
    }
  return result;
}

TEST(Table, IntegersAreWithinTheBound) { check(getSchedules(), 1e7, kBound); }

TEST(Table, IntegersTo2To31AreWithinTheBound) {
  check(getSchedules(), 0x1p31, kBound);
}

TEST(Table, FractionsAreWithinTheBound) {
  std::vector<Config> configs = getSchedules();
  for (auto [index, config] : llvm::enumerate(configs))
    config.positions = index % 2 ? DType::F32 : DType::F64;
  check(configs, 1e7, kBound);
}

TEST(Table, LengthsKnownAtRunTimeAreWithinTheBound) {
  check(getLengthDependentSchedules(), 1e7, kBound);
  std::vector<Config> configs = getLengthDependentSchedules();
  for (Config &config : configs)
    config.positions = DType::F32;
  check(configs, 1e7, kBound);
}

TEST(Table, RoundedAnglesAreWithinTheBound) {
  check(withModes(getSchedules(), {reference::AngleMode::F32Angle,
                                   reference::AngleMode::F32Quotient}),
        1e7, kBound);
}

TEST(Table, TypesOfPositionsAreWithinTheBound) {
  std::vector<Config> configs;
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64, DType::F16,
                      DType::BF16, DType::F32, DType::F64})
    configs.push_back({"#rope.default<1.0e4>", dtype});
  check(withModes(configs,
                  {reference::AngleMode::Exact, reference::AngleMode::F32Angle,
                   reference::AngleMode::F32Quotient}),
        100, kBound);
}

TEST(Table, NarrowTablesAreRoundedOnce) {
  std::vector<Config> configs;
  for (DType table : {DType::F16, DType::BF16})
    for (DType positions : {DType::I64, DType::F32}) {
      Config config{"#rope.yarn<theta = 1.0e4, factor = 40.0, trained = 4096>",
                    positions};
      config.table = table;
      configs.push_back(config);
    }
  // Twice the bound: what is left of an f32 before it is rounded again.
  check(withModes(configs, {reference::AngleMode::Exact,
                            reference::AngleMode::F32Angle}),
        1e7, 2 * kBound);
}

TEST(Table, WideTablesAreExact) {
  std::vector<Config> configs = getSchedules();
  for (auto [index, config] : llvm::enumerate(configs)) {
    config.table = DType::F64;
    config.positions = index % 3 == 0   ? DType::I64
                       : index % 3 == 1 ? DType::F64
                                        : DType::F32;
  }
  check(configs, 1e7, 5e-16);
}

/// A unit in the last place of an f32 angle shows in f64 tables.
TEST(Table, RoundedAnglesAreThoseOfNumPyBitForBit) {
  std::vector<Config> configs;
  for (const char *theta : {"1.0e4", "5.0e5", "1.0e7"})
    for (DType positions : {DType::I32, DType::I64, DType::F32, DType::F64}) {
      Config config{"#rope.default<" + std::string(theta) + ">", positions};
      config.table = DType::F64;
      configs.push_back(config);
    }
  configs.push_back(
      {"#rope.proportional<theta = 1.0e6, share = 0.25>", DType::I64});
  configs.back().table = DType::F64;
  check(withModes(configs, {reference::AngleMode::F32Angle,
                            reference::AngleMode::F32Quotient}),
        1e7, 5e-16);
}

TEST(Table, AnyFrequencyIsReduced) {
  std::string some = "#rope.explicit<frequencies = [0.0, -0.0, 1.0, -1.0, "
                     "0.7, -0.7, 6.25, 3.7e5, -1.0e22, 1.0e300, 1.0e-30, "
                     "5.0e-324, 1.5707963267948966, 3.1415926535897931, "
                     "6.2831853071795862, 12345678.9, ";
  std::string rest = getList(1e-9, 10, kPairs - 16).substr(1);
  // Products with floats are not modulo a turn.
  std::string small = "#rope.explicit<frequencies = [0.0, -0.0, 1.0, -1.0, "
                      "0.7, -0.7, 6.25, 3.7e5, -3.7e5, -1.0e-30, 1.0e-30, "
                      "5.0e-324, 1.5707963267948966, 3.1415926535897931, "
                      "-6.2831853071795862, 12345678.9, ";
  check({{some + rest + ">", DType::I64}, {small + rest + ">", DType::F32}},
        1000, kBound);
}

TEST(Table, ZeroFrequenciesGiveExactlyTheIdentity) {
  std::vector<Config> configs =
      withModes({{"#rope.proportional<theta = 1.0e6, share = 0.01>"}},
                {reference::AngleMode::Exact, reference::AngleMode::F32Angle,
                 reference::AngleMode::F32Quotient});
  check(configs, 1e7, 0);
}

TEST(Table, IndicesAreConsecutiveFromTheStart) {
  Program program(R"mlir(
    func.func @f(%start: index, %init: tensor<?x2x32xf32>) -> tensor<?x2x32xf32> {
      %t = rope.table #rope.default<1.0e4> ins(%start : index) outs(%init : tensor<?x2x32xf32>) -> tensor<?x2x32xf32>
      return %t : tensor<?x2x32xf32>
    })mlir");
  for (int64_t start : {int64_t(-3), int64_t(0), int64_t(1) << 33}) {
    Array first = makeArray(DType::I64, reference::IntArray({}, {start}));
    Array init = makeFilled(DType::F32, {7, 2, kPairs}, std::nan(""));
    reference::TableInputs inputs{reference::IntArray::iota(7, start),
                                  getFrequencies({"#rope.default<1.0e4>"})};
    EXPECT_LE(getError(program.call("f", first, init).front(),
                       reference::makeTable(inputs), 1),
              kBound);
  }
}

TEST(Table, MagnitudesThatF32CannotHold) {
  Program program(R"mlir(
    !T = tensor<1x2x1xf32>
    func.func @f(%position: index, %init: !T) -> (!T, !T) {
      %large = rope.table #rope.explicit<frequencies = [1.0], magnitude = 1.0e300>
                 ins(%position : index) outs(%init : !T) -> !T
      %small = rope.table #rope.explicit<frequencies = [1.0], magnitude = 1.0e-300>
                 ins(%position : index) outs(%init : !T) -> !T
      return %large, %small : !T, !T
    })mlir");
  Array zero = makeArray(DType::I64, reference::IntArray({}, {0}));
  Array init = makeFilled(DType::F32, {1, 2, 1}, 0);
  auto tables = program.call("f", zero, init);
  EXPECT_EQ(toReference(tables[0]).getElements(),
            (std::vector<double>{INFINITY, 0}));
  EXPECT_EQ(toReference(tables[1]).getElements(), (std::vector<double>{0, 0}));
}
