//===- NpyTest.cpp - Tests of NumPy's file formats ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Good files of every kind, and each way in which a file can be wrong.
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gmock/gmock.h"

using namespace mlir::rope;
using llvm::StringRef;
using testing::ElementsAre;
using testing::HasSubstr;

/// An `.npy` file of version 1 with this dictionary and data.
static std::string makeNpy(StringRef header, StringRef data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  return text + header.str() + data.str();
}

static std::string makeNpy(StringRef descr, StringRef order, StringRef shape,
                           StringRef data) {
  return makeNpy(("{'descr': '" + descr + "', 'fortran_order': " + order +
                  ", 'shape': " + shape + ", }")
                     .str(),
                 data);
}

static std::string getError(llvm::Error error) {
  return llvm::toString(std::move(error));
}

static std::string getNpyError(StringRef bytes) {
  llvm::Expected<Array> array = parseNpy(bytes, "x.npy");
  return array ? "" : getError(array.takeError());
}

static std::vector<double> getValues(const Array &array) {
  std::vector<double> values;
  for (int64_t i = 0; i != array.getNumElements(); ++i)
    values.push_back(array.get(i).real());
  return values;
}

static StringRef bytesOf(llvm::ArrayRef<uint16_t> values) {
  return {reinterpret_cast<const char *>(values.data()), 2 * values.size()};
}

TEST(Npy, ReadsRowMajor) {
  uint16_t data[] = {1, 2, 3, 4, 5, 6};
  Array array = llvm::cantFail(
      parseNpy(makeNpy("<u2", "False", "(2, 3)", bytesOf(data)), "x"));
  EXPECT_EQ(array.getDType(), DType::U16);
  EXPECT_THAT(array.getShape(), ElementsAre(2, 3));
  EXPECT_THAT(getValues(array), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.getData()) % 64, 0u);
}

TEST(Npy, ReadsColumnMajor) {
  uint16_t data[] = {1, 4, 2, 5, 3, 6};
  Array array = llvm::cantFail(
      parseNpy(makeNpy("<i2", "True", "(2, 3)", bytesOf(data)), "x"));
  EXPECT_THAT(getValues(array), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, ReadsBigEndian) {
  StringRef data("\x3f\x80\0\0\xc0\0\0\0", 8);
  Array array =
      llvm::cantFail(parseNpy(makeNpy(">f4", "False", "(2,)", data), "x"));
  EXPECT_THAT(getValues(array), ElementsAre(1, -2));
}

TEST(Npy, SwapsHalvesOfComplex) {
  StringRef data("\x3f\x80\0\0\xc0\0\0\0", 8);
  Array array =
      llvm::cantFail(parseNpy(makeNpy(">c8", "False", "()", data), "x"));
  EXPECT_EQ(array.get(0), std::complex<double>(1, -2));
}

TEST(Npy, ReadsShortFloats) {
  Array half = llvm::cantFail(
      parseNpy(makeNpy("<f2", "False", "(1,)", StringRef("\x00\x3e", 2)), "x"));
  EXPECT_EQ(half.get(0), 1.5);
  Array bfloat = llvm::cantFail(
      parseNpy(makeNpy("<V2", "False", "(1,)", StringRef("\xc0\x3f", 2)), "x"));
  EXPECT_EQ(bfloat.getDType(), DType::BF16);
  EXPECT_EQ(bfloat.get(0), 1.5);
}

TEST(Npy, ReadsNoElements) {
  Array array =
      llvm::cantFail(parseNpy(makeNpy("<f4", "False", "(3, 0)", ""), "x"));
  EXPECT_THAT(array.getShape(), ElementsAre(3, 0));
  EXPECT_EQ(array.getNumElements(), 0);
}

TEST(Npy, KeepsEveryTypeOverAFile) {
  for (int32_t i = 0; i != kNumDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    Array array = llvm::cantFail(Array::create(dtype, {2, 2}));
    for (int64_t j = 0; j != 4; ++j)
      array.set(j, j % 2);
    Array read = llvm::cantFail(parseNpy(formatNpy(array), "x"));
    EXPECT_TRUE(isReadableAs(read.getDType(), dtype)) << getName(dtype).str();
    read.reinterpret(dtype);
    EXPECT_THAT(read.getShape(), ElementsAre(2, 2));
    EXPECT_THAT(getValues(read), ElementsAre(0, 1, 0, 1))
        << getName(dtype).str();
  }
}

TEST(Npy, NamesTheFaultOfTheHeader) {
  EXPECT_EQ(getNpyError("hello"), "'x.npy': not an .npy file (it does not "
                                  "start with \\x93NUMPY)");
  EXPECT_THAT(getNpyError(""), HasSubstr("not an .npy file"));
  EXPECT_THAT(getNpyError(StringRef("\x93NUMPY\x09\x00", 8)),
              HasSubstr("version 9 of the .npy format"));
  EXPECT_THAT(getNpyError(makeNpy("[]", "")), HasSubstr("not a dictionary"));
  EXPECT_THAT(getNpyError(makeNpy("{", "")), HasSubstr("not a dictionary of"));
  EXPECT_THAT(getNpyError(makeNpy("{'descr': '<f4'}", "")),
              HasSubstr("lacks descr, fortran_order or shape"));
  EXPECT_THAT(getNpyError(makeNpy("{'color': 3}", "")),
              HasSubstr("unknown key 'color'"));
  EXPECT_THAT(getNpyError(makeNpy("{'descr': [('a', '<f4')]}", "")),
              HasSubstr("arrays of records"));
  EXPECT_THAT(getNpyError(makeNpy("|O", "False", "(2,)", "")),
              HasSubstr("element type '|O' is not supported"));
  EXPECT_THAT(getNpyError(makeNpy("", "False", "(2,)", "")),
              HasSubstr("element type '' is not supported"));
  EXPECT_THAT(getNpyError(makeNpy("<f4", "No", "(2,)", "")),
              HasSubstr("neither True nor False"));
  EXPECT_THAT(getNpyError(makeNpy("<f4", "False", "2", "")),
              HasSubstr("the shape is not a tuple"));
  EXPECT_THAT(getNpyError(makeNpy("<f4", "False", "(-1,)", "")),
              HasSubstr("something else than sizes"));
}

TEST(Npy, NeverTrustsSizes) {
  EXPECT_THAT(getNpyError(makeNpy("<f4", "False", "(2,)", "1234")),
              HasSubstr("promises 8 bytes of f32 data, the file has 4"));
  EXPECT_THAT(getNpyError(makeNpy("<f4", "False", "(1,)", "12345678")),
              HasSubstr("promises 4 bytes of f32 data, the file has 8"));
  EXPECT_THAT(
      getNpyError(makeNpy("<f8", "False", "(4611686018427387904,)", "")),
      HasSubstr("too large"));
  EXPECT_THAT(getNpyError(makeNpy("<f8", "False",
                                  "(4294967296, 4294967296, 4294967296)", "")),
              HasSubstr("too large"));
  EXPECT_THAT(
      getNpyError(makeNpy("<f8", "False", "(99999999999999999999,)", "")),
      HasSubstr("something else than sizes"));
}

TEST(Npy, SurvivesEveryTruncation) {
  std::string text =
      formatNpy(llvm::cantFail(Array::create(DType::F32, {2, 2})));
  for (size_t length = 0; length != text.size(); ++length)
    EXPECT_NE(getNpyError(StringRef(text).take_front(length)), "") << length;
}

/// numpy.savez_compressed(x=float32 0 … 5 of shape (2, 3), y=True).
static const char compressedArchive[] =
    "\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x4f\xe9\x00\x2a"
    "\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\x14\x00\x78\x2e\x6e\x70\x79\x01"
    "\x00\x10\x00\x98\x00\x00\x00\x00\x00\x00\x00\x55\x00\x00\x00\x00\x00\x00"
    "\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c"
    "\xa4\x6e\xa5\xa0\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98"
    "\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16"
    "\xa4\x02\xf9\x1a\x46\x3a\x0a\xc6\x9a\x3a\x0a\xb5\x0a\x64\x03\x2e\x06\x30"
    "\x68\xb0\x07\x12\x0e\x40\x04\xc4\x0d\x40\xbc\xc0\x01\x00\x50\x4b\x03\x04"
    "\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x82\x2d\xf8\xd3\xff\xff\xff\xff"
    "\xff\xff\xff\xff\x05\x00\x14\x00\x79\x2e\x6e\x70\x79\x01\x00\x10\x00\x81"
    "\x00\x00\x00\x00\x00\x00\x00\x43\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17"
    "\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0"
    "\x5e\x93\x64\xa8\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94"
    "\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a"
    "\x9a\x3a\x0a\xb5\x0a\x14\x01\x2e\x46\x00\x50\x4b\x01\x02\x2d\x03\x2d\x00"
    "\x00\x00\x08\x00\x00\x00\x21\x00\x4f\xe9\x00\x2a\x55\x00\x00\x00\x98\x00"
    "\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00"
    "\x00\x00\x78\x2e\x6e\x70\x79\x50\x4b\x01\x02\x2d\x03\x2d\x00\x00\x00\x08"
    "\x00\x00\x00\x21\x00\x82\x2d\xf8\xd3\x43\x00\x00\x00\x81\x00\x00\x00\x05"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x8c\x00\x00\x00\x79"
    "\x2e\x6e\x70\x79\x50\x4b\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00\x66\x00"
    "\x00\x00\x06\x01\x00\x00\x00\x00";

static StringRef getArchive() {
  return {compressedArchive, sizeof(compressedArchive) - 1};
}

static std::string getNpzError(StringRef bytes) {
  llvm::Expected<NamedArrays> arrays = parseNpz(bytes, "x.npz");
  return arrays ? "" : getError(arrays.takeError());
}

TEST(Npz, ReadsDeflated) {
  NamedArrays arrays = llvm::cantFail(parseNpz(getArchive(), "x.npz"));
  ASSERT_EQ(arrays.size(), 2u);
  const Array *x = findArray(arrays, "x");
  ASSERT_NE(x, nullptr);
  EXPECT_THAT(x->getShape(), ElementsAre(2, 3));
  EXPECT_THAT(getValues(*x), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(findArray(arrays, "y")->get(0), 1.0);
  EXPECT_EQ(findArray(arrays, "z"), nullptr);
}

TEST(Npz, ReadsWhatItWrites) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("rope", "npz", path));
  Array array = llvm::cantFail(Array::create(DType::F64, {3}));
  array.set(2, -0.5);
  llvm::cantFail(writeNpz(path, {{"a", &array}, {"b", &array}}));
  NamedArrays arrays = llvm::cantFail(readNpz(path));
  llvm::sys::fs::remove(path);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_THAT(getValues(*findArray(arrays, "b")), ElementsAre(0, 0, -0.5));
}

TEST(Npz, NamesTheFault) {
  EXPECT_EQ(getNpzError("hello"),
            "'x.npz': not an .npz file (it has no zip directory)");
  std::string damaged = getArchive().str();
  size_t data = damaged.find("x.npy") + 40;
  damaged[data] ^= 0xff;
  EXPECT_THAT(getNpzError(damaged), HasSubstr("array 'x.npy': its"));
}

/// Overwrites a field of the first directory entry.
static std::string patchDirectory(size_t field, StringRef value) {
  std::string text = getArchive().str();
  text.replace(text.find("PK\x01\x02") + field, value.size(), value.str());
  return text;
}

TEST(Npz, NeverTrustsTheDirectory) {
  EXPECT_THAT(getNpzError(patchDirectory(8, StringRef("\x01\x00", 2))),
              HasSubstr("it is encrypted"));
  EXPECT_THAT(getNpzError(patchDirectory(10, StringRef("\x0c\x00", 2))),
              HasSubstr("compression method 12 is not supported"));
  EXPECT_THAT(getNpzError(patchDirectory(10, StringRef("\x00\x00", 2))),
              HasSubstr("sizes contradict"));
  EXPECT_THAT(getNpzError(patchDirectory(16, "abcd")),
              HasSubstr("checksum is wrong"));
  EXPECT_THAT(getNpzError(patchDirectory(20, "\xff\xff\xff\x7f")),
              HasSubstr("archive ends inside"));
  EXPECT_THAT(getNpzError(patchDirectory(24, "\xff\xff\xff\xff")),
              HasSubstr("larger than 4 GiB"));
  EXPECT_THAT(getNpzError(patchDirectory(24, "\xff\xff\xff\x7f")),
              HasSubstr("sizes contradict"));
  EXPECT_THAT(getNpzError(patchDirectory(28, "\xff\xff")),
              HasSubstr("directory of the archive is damaged"));
  EXPECT_THAT(getNpzError(patchDirectory(42, "\xff\xff\xff\x7f")),
              HasSubstr("its header is damaged"));
}

TEST(Npz, SurvivesEveryTruncation) {
  for (size_t length = 0; length != getArchive().size(); ++length)
    EXPECT_NE(getNpzError(getArchive().take_front(length)), "") << length;
}

TEST(Npz, SurvivesEveryFlippedByte) {
  for (size_t i = 0; i != getArchive().size(); ++i) {
    std::string text = getArchive().str();
    text[i] ^= 0xff;
    // Names and dates may change freely: it has to return, no more.
    getNpzError(text);
  }
}

TEST(Files, NameThePath) {
  EXPECT_THAT(getError(readNpy("/nonexistent/a.npy").takeError()),
              HasSubstr("cannot read '/nonexistent/a.npy': No such file"));
  EXPECT_THAT(getError(readNpz("/nonexistent/a.npz").takeError()),
              HasSubstr("cannot read '/nonexistent/a.npz': No such file"));
  Array array = llvm::cantFail(Array::create(DType::F32, {}));
  EXPECT_THAT(getError(writeNpy("/nonexistent/a.npy", array)),
              HasSubstr("/nonexistent/a.npy"));
  EXPECT_THAT(getError(writeNpz("/nonexistent/a.npz", {{"a", &array}})),
              HasSubstr("/nonexistent/a.npz"));
}
