//===- ExecutableTest.cpp - Tests of signatures and calls -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles small functions and calls them, with an eye on who owns what.
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Executable.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include "gmock/gmock.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace mlir;
using namespace mlir::rope;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ExecutableTest : public testing::Test {
protected:
  ExecutableTest() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
    });
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    llvm::SourceMgr sourceMgr;
    sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text),
                                 llvm::SMLoc());
    return parseModel(sourceMgr, &context);
  }

  /// Compiles `text`, kept in `executable`.
  void compile(StringRef text, CompileOptions options = {}) {
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << messages;
    executable = Executable::compile(*module, options);
  }

  llvm::Expected<SmallVector<Array>> call(StringRef name,
                                          MutableArrayRef<Array> args) {
    SmallVector<ArrayView> views;
    for (Array &array : args)
      views.push_back(array.view());
    return executable->invoke(
        *llvm::cantFail(findEntryPoint(executable->getEntryPoints(), name)),
        views);
  }

  MLIRContext context;
  std::string messages;
  std::unique_ptr<Executable> executable;
};

} // namespace

static Array makeArray(std::vector<double> values, std::vector<int64_t> shape,
                       DType dtype = DType::F32) {
  Array array = llvm::cantFail(Array::create(dtype, shape));
  for (auto [index, value] : llvm::enumerate(values))
    array.set(index, value);
  return array;
}

static std::vector<double> getValues(const Array &array) {
  std::vector<double> values;
  for (int64_t i = 0; i != array.getNumElements(); ++i)
    values.push_back(array.get(i).real());
  return values;
}

TEST_F(ExecutableTest, DescribesEntries) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    func.func @f(%a: tensor<2x?xbf16>, %b: index) -> (tensor<f64>, i1) {
      %0 = arith.constant dense<1.0> : tensor<f64>
      %1 = arith.constant true
      return %0, %1 : tensor<f64>, i1
    }
    func.func private @helper() { return }
    func.func private @external(tensor<2xf32>)
    func.func @g(%a: tensor<*xf32>) { return }
  )mlir");
  std::vector<EntryPoint> entries = getEntryPoints(*module);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].getSignature(),
            "f(tensor<2x?xbf16>, index) -> (tensor<f64>, i1)");
  EXPECT_EQ(entries[0].getWrapperName(), "_mlir_ciface_f");
  EXPECT_EQ(entries[0].args[0].dtype, DType::BF16);
  EXPECT_THAT(entries[0].args[0].shape, ElementsAre(2, ShapedType::kDynamic));
  EXPECT_TRUE(entries[0].args[1].isScalar);
  EXPECT_FALSE(entries[0].results[0].isScalar);
  EXPECT_EQ(entries[1].obstacle, "argument 0 has the type tensor<*xf32>, which "
                                 "a call cannot pass");
}

TEST_F(ExecutableTest, FindsEntries) {
  auto getError = [](auto expected) {
    return llvm::toString(expected.takeError());
  };
  EntryPoint f, main;
  f.name = "f";
  main.name = "main";
  EXPECT_EQ((*findEntryPoint({f}, ""))->name, "f");
  EXPECT_EQ((*findEntryPoint({f, main}, ""))->name, "main");
  EXPECT_EQ((*findEntryPoint({f, main}, "f"))->name, "f");
  EXPECT_EQ(getError(findEntryPoint({f, main}, "g")),
            "the module has no entry @g, only @f, @main");
  EXPECT_EQ(getError(findEntryPoint({f, f}, "")),
            "the module has several entries, name one: @f, @f");
  EXPECT_EQ(getError(findEntryPoint({}, "")),
            "the module has no public function with a body");
}

TEST_F(ExecutableTest, CallsWithScalarsAndSeveralResults) {
  compile(R"mlir(
    func.func @f(%x: tensor<?xf32>, %s: f32, %n: i64)
        -> (i1, tensor<?xf32>, f32, i64, complex<f32>) {
      %t = arith.constant true
      %scaled = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>)
        (%in: f32, %out: f32) {
          %0 = arith.mulf %in, %s : f32
          linalg.yield %0 : f32
        }
      %c = complex.create %s, %s : complex<f32>
      return %t, %scaled, %s, %n, %c
        : i1, tensor<?xf32>, f32, i64, complex<f32>
    }
  )mlir");
  ASSERT_TRUE(executable) << messages;
  std::vector<Array> args;
  args.push_back(makeArray({1, 2, 3}, {3}));
  args.push_back(makeArray({2.5}, {}));
  args.push_back(makeArray({-7}, {1}, DType::I64));
  SmallVector<Array> results = llvm::cantFail(call("f", args));
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0].get(0), 1.0);
  EXPECT_THAT(getValues(results[1]), ElementsAre(2.5, 5, 7.5));
  EXPECT_EQ(results[2].get(0), 2.5);
  EXPECT_EQ(results[3].get(0), -7.0);
  EXPECT_EQ(results[4].get(0), std::complex<double>(2.5, 2.5));
  EXPECT_THAT(getValues(args[0]), ElementsAre(1, 2, 3));
}

TEST_F(ExecutableTest, ReturnsOneScalar) {
  compile(R"mlir(
    func.func @real(%s: f64) -> f64 {
      %0 = arith.addf %s, %s : f64
      return %0 : f64
    }
    func.func @complex(%s: complex<f64>) -> complex<f64> {
      %0 = complex.add %s, %s : complex<f64>
      return %0 : complex<f64>
    }
    func.func @nothing() { return }
  )mlir");
  ASSERT_TRUE(executable) << messages;
  std::vector<Array> args;
  args.push_back(makeArray({1.25}, {}, DType::F64));
  EXPECT_EQ(llvm::cantFail(call("real", args))[0].get(0), 2.5);
  args[0] = makeArray({1.25}, {}, DType::C128);
  EXPECT_EQ(llvm::cantFail(call("complex", args))[0].get(0), 2.5);
  EXPECT_TRUE(llvm::cantFail(call("nothing", {})).empty());
}

// Each result can outlive the others, the argument and the code.
TEST_F(ExecutableTest, ResultsOwnTheirMemory) {
  compile(R"mlir(
    func.func @f(%x: tensor<2x2xf32>)
        -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %constant = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
      %row = tensor.extract_slice %x[1, 0] [1, 2] [1, 1]
        : tensor<2x2xf32> to tensor<2xf32>
      return %x, %x, %constant, %row
        : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    }
  )mlir");
  ASSERT_TRUE(executable) << messages;
  SmallVector<Array> results;
  {
    std::vector<Array> args;
    args.push_back(makeArray({1, 2, 3, 4}, {2, 2}));
    results = llvm::cantFail(call("f", args));
    args[0].set(0, 9);
  }
  executable.reset();
  results[0].set(0, 8);
  EXPECT_THAT(getValues(results[1]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(getValues(results[2]), ElementsAre(5, 6));
  EXPECT_THAT(getValues(results[3]), ElementsAre(3, 4));
}

// Functions on memrefs have no pass that gives results buffers of their own.
TEST_F(ExecutableTest, CopiesWhatBelongsToTheCaller) {
  compile(R"mlir(
    memref.global "private" constant @c : memref<2xf32> = dense<[5.0, 6.0]>
    func.func @f(%x: memref<2xf32>) -> (memref<2xf32>, memref<2xf32>) {
      %c = memref.get_global @c : memref<2xf32>
      return %x, %c : memref<2xf32>, memref<2xf32>
    }
  )mlir");
  ASSERT_TRUE(executable) << messages;
  std::vector<Array> args;
  args.push_back(makeArray({1, 2}, {2}));
  SmallVector<Array> results = llvm::cantFail(call("f", args));
  EXPECT_NE(results[0].getData(), args[0].getData());
  EXPECT_THAT(getValues(results[0]), ElementsAre(1, 2));
  EXPECT_THAT(getValues(results[1]), ElementsAre(5, 6));
}

TEST_F(ExecutableTest, TakesEmptyArrays) {
  compile(R"mlir(
    func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      return %x : tensor<?x3xf32>
    }
  )mlir");
  std::vector<Array> args;
  args.push_back(makeArray({}, {0, 3}));
  SmallVector<Array> results = llvm::cantFail(call("f", args));
  EXPECT_THAT(results[0].getShape(), ElementsAre(0, 3));
}

TEST_F(ExecutableTest, ChecksArguments) {
  compile(R"mlir(
    func.func @f(%x: tensor<2x?xf32>, %n: index) { return }
    func.func @g(%x: memref<*xf32>) { return }
  )mlir");
  ASSERT_TRUE(executable) << messages;
  auto getError = [&](MutableArrayRef<Array> args, StringRef name = "f") {
    return llvm::toString(call(name, args).takeError());
  };
  std::vector<Array> args;
  args.push_back(makeArray({1, 2}, {2, 1}));
  EXPECT_EQ(getError(args), "@f takes 2 arguments, got 1");
  args.push_back(makeArray({1, 2}, {2}, DType::I64));
  EXPECT_EQ(getError(args), "argument 1: expected index, got i64[2]");
  args[1] = makeArray({1}, {}, DType::I64);
  args[0] = makeArray({1, 2}, {2, 1}, DType::F64);
  EXPECT_EQ(getError(args),
            "argument 0: expected tensor<2x?xf32>, got f64[2x1]");
  args[0] = makeArray({1, 2}, {1, 2});
  EXPECT_EQ(getError(args),
            "argument 0: expected tensor<2x?xf32>, got f32[1x2]");
  args.pop_back();
  EXPECT_EQ(getError(args, "g"),
            "cannot call @g: argument 0 has the type memref<*xf32>, which a "
            "call cannot pass");
}

TEST_F(ExecutableTest, ReportsUnknownTargetsAndOptions) {
  const char *text = "func.func @f() { return }";
  CompileOptions options;
  options.targetCPU = "z80";
  compile(text, options);
  EXPECT_FALSE(executable);
  EXPECT_THAT(messages, HasSubstr("unknown target CPU 'z80'"));
  options.targetCPU = "native";
  options.targetFeatures = "+avx2,+warp";
  compile(text, options);
  EXPECT_THAT(messages, HasSubstr("unknown target feature '+warp'"));
  options.targetFeatures = "";
  options.optLevel = 4;
  compile(text, options);
  EXPECT_THAT(messages, HasSubstr("unknown optimization level 4"));
  options.optLevel = 0;
  options.pipelineOptions = "speed=fast";
  compile(text, options);
  EXPECT_THAT(messages, HasSubstr("bad pipeline options 'speed=fast'"));
  options.pipelineOptions = "results-as-out-params";
  compile(text, options);
  EXPECT_THAT(messages, HasSubstr("results-as-out-params is for code"));
  EXPECT_FALSE(executable);
}

TEST_F(ExecutableTest, ReportsMissingSymbols) {
  compile(R"mlir(
    func.func private @missing(f32) -> f32
    func.func @f(%x: f32) -> f32 {
      %0 = call @missing(%x) : (f32) -> f32
      return %0 : f32
    }
  )mlir");
  EXPECT_FALSE(executable);
  EXPECT_THAT(messages,
              HasSubstr("external function 'missing' is called and has "
                        "no definition"));
}

#ifdef __GLIBC__
// A function that keeps its work buffer gives it back with the code.
TEST_F(ExecutableTest, FreesKeptMemory) {
  constexpr size_t size = size_t(64) << 20;
  size_t before = mallinfo2().hblkhd;
  CompileOptions options;
  options.pipelineOptions = "keep-memory";
  compile(R"mlir(
    func.func @f(%x: tensor<4096x4xf32>, %y: tensor<4x4096xf32>) -> tensor<4096x4xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4096x4096xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      %a = linalg.matmul ins(%x, %y : tensor<4096x4xf32>, tensor<4x4096xf32>)
          outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      %e2 = tensor.empty() : tensor<4096x4xf32>
      %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4096x4xf32>) -> tensor<4096x4xf32>
      %b = linalg.matmul ins(%a, %x : tensor<4096x4096xf32>, tensor<4096x4xf32>)
          outs(%f2 : tensor<4096x4xf32>) -> tensor<4096x4xf32>
      return %b : tensor<4096x4xf32>
    })mlir",
          options);
  ASSERT_TRUE(executable) << messages;
  std::vector<Array> arguments;
  arguments.push_back(makeArray({1}, {4096, 4}));
  arguments.push_back(makeArray({1}, {4, 4096}));
  llvm::cantFail(call("f", arguments));
  if (mallinfo2().hblkhd < before + size)
    GTEST_SKIP() << "malloc is not that of the C library";
  executable.reset();
  EXPECT_LT(mallinfo2().hblkhd, before + size);
}
#endif
