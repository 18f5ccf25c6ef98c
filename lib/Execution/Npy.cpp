//===- Npy.cpp - NumPy's array files --------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `.npy` format: a magic string, a Python dictionary that describes the
// array, and its elements.
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Npy.h"
#include "Strides.h"
#include "rope/Execution/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir::rope;
using llvm::StringRef;

namespace {

/// The dictionary at the head of an `.npy` file.
struct Header {
  DType dtype = DType::F32;
  bool swapped = false;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;
};

/// Reads the dictionary, as much of Python's syntax as NumPy writes.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// The header, or an error that names the fault only.
  llvm::Expected<Header> parse();

private:
  bool consume(StringRef token);
  llvm::Expected<StringRef> parseString();
  llvm::Error parseEntry(StringRef key);
  llvm::Error parseDescr();
  llvm::Error parseShape();

  StringRef rest;
  Header header;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

} // namespace

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// Puts the name of the file before the reason.
static llvm::Error inFile(StringRef name, llvm::Error error) {
  return fail("'" + name + "': " + llvm::toString(std::move(error)));
}

bool HeaderParser::consume(StringRef token) {
  rest = rest.ltrim(" \n\t");
  return rest.consume_front(token);
}

llvm::Expected<StringRef> HeaderParser::parseString() {
  StringRef quote = consume("'") ? "'" : consume("\"") ? "\"" : "";
  size_t end = quote.empty() ? StringRef::npos : rest.find(quote);
  if (end == StringRef::npos)
    return fail("the header is not a dictionary of descr, fortran_order and "
                "shape");
  StringRef text = rest.take_front(end);
  rest = rest.drop_front(end + 1);
  return text;
}

static std::optional<DType> getDType(StringRef code) {
  return llvm::StringSwitch<std::optional<DType>>(code)
      .Case("f2", DType::F16)
      .Case("f4", DType::F32)
      .Case("f8", DType::F64)
      .Case("b1", DType::I1)
      .Case("i1", DType::I8)
      .Case("i2", DType::I16)
      .Case("i4", DType::I32)
      .Case("i8", DType::I64)
      .Case("u1", DType::U8)
      .Case("u2", DType::U16)
      .Case("u4", DType::U32)
      .Case("u8", DType::U64)
      .Case("c8", DType::C64)
      .Case("c16", DType::C128)
      .Case("V2", DType::BF16)
      .Default(std::nullopt);
}

llvm::Error HeaderParser::parseDescr() {
  llvm::Expected<StringRef> text = parseString();
  if (!text) {
    llvm::consumeError(text.takeError());
    return fail("arrays of records are not supported");
  }
  std::optional<DType> dtype = getDType(text->drop_front(!text->empty()));
  if (!dtype || !StringRef("<>|=").contains(text->front()))
    return fail("the element type '" + *text + "' is not supported");
  header.dtype = *dtype;
  header.swapped = text->front() == (llvm::sys::IsLittleEndianHost ? '>' : '<');
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseShape() {
  if (!consume("("))
    return fail("the shape is not a tuple");
  while (!consume(")")) {
    int64_t size;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, size) || size < 0)
      return fail("the shape holds something else than sizes");
    header.shape.push_back(size);
    if (!consume(",") && !rest.ltrim().starts_with(")"))
      return fail("the shape is not a tuple");
  }
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseEntry(StringRef key) {
  if (!consume(":"))
    return fail("the header has no value for '" + key + "'");
  if (key == "descr") {
    hasDescr = true;
    return parseDescr();
  }
  if (key == "shape") {
    hasShape = true;
    return parseShape();
  }
  if (key != "fortran_order")
    return fail("the header has an unknown key '" + key + "'");
  hasOrder = true;
  header.fortranOrder = consume("True");
  if (!header.fortranOrder && !consume("False"))
    return fail("fortran_order is neither True nor False");
  return llvm::Error::success();
}

llvm::Expected<Header> HeaderParser::parse() {
  if (!consume("{"))
    return fail("the header is not a dictionary");
  while (!consume("}")) {
    llvm::Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    if (llvm::Error error = parseEntry(*key))
      return std::move(error);
    if (!consume(",") && !rest.ltrim().starts_with("}"))
      return fail("the header is not a dictionary");
  }
  if (!hasDescr || !hasOrder || !hasShape)
    return fail("the header lacks descr, fortran_order or shape");
  return header;
}

/// Cuts the header off `bytes`.
static llvm::Expected<Header> takeHeader(StringRef &bytes) {
  if (!bytes.consume_front(kMagic))
    return fail("not an .npy file (it does not start with \\x93NUMPY)");
  if (bytes.size() < 2)
    return fail("the file ends inside its header");
  unsigned major = static_cast<unsigned char>(bytes[0]);
  bytes = bytes.drop_front(2);
  if (major < 1 || major > 3)
    return fail("version " + llvm::Twine(major) +
                " of the .npy format is not supported");
  size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < width)
    return fail("the file ends inside its header");
  size_t length = major == 1 ? llvm::support::endian::read16le(bytes.data())
                             : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(width);
  if (length > bytes.size())
    return fail("the file ends inside its header");
  StringRef text = bytes.take_front(length);
  bytes = bytes.drop_front(length);
  return HeaderParser(text).parse();
}

/// Reverses the bytes of each number: of each half, where it is complex.
static void swapBytes(Array &array) {
  size_t width =
      getByteSize(array.getDType()) / (isComplex(array.getDType()) ? 2 : 1);
  char *data = array.getData();
  for (size_t i = 0, e = array.getNumBytes(); i != e; i += width)
    std::reverse(data + i, data + i + width);
}

/// The strides of a column-major array.
static llvm::SmallVector<int64_t>
getFortranStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides;
  int64_t stride = 1;
  for (int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  return strides;
}

/// Compares the length of the data with what the header promises.
static llvm::Error checkLength(const Header &header, StringRef data) {
  std::optional<int64_t> count = countElements(header.shape);
  int64_t bytes;
  if (!count ||
      llvm::MulOverflow(*count, static_cast<int64_t>(getByteSize(header.dtype)),
                        bytes))
    return fail("the shape " + formatShape(header.shape) + " is too large");
  if (static_cast<uint64_t>(bytes) != data.size())
    return fail("the header promises " + llvm::Twine(bytes) + " bytes of " +
                getName(header.dtype) + " data, the file has " +
                llvm::Twine(data.size()));
  return llvm::Error::success();
}

static llvm::Expected<Array> parseArray(StringRef bytes) {
  llvm::Expected<Header> header = takeHeader(bytes);
  if (!header)
    return header.takeError();
  if (llvm::Error error = checkLength(*header, bytes))
    return std::move(error);
  llvm::Expected<Array> array = Array::create(header->dtype, header->shape);
  if (!array)
    return array;
  if (header->fortranOrder && header->shape.size() > 1)
    copyStrided(*array, bytes.data(), getFortranStrides(header->shape));
  else if (!bytes.empty())
    std::memcpy(array->getData(), bytes.data(), bytes.size());
  if (header->swapped)
    swapBytes(*array);
  return array;
}

llvm::Expected<Array> mlir::rope::parseNpy(StringRef bytes, StringRef name) {
  llvm::Expected<Array> array = parseArray(bytes);
  if (!array)
    return inFile(name, array.takeError());
  return array;
}

llvm::Expected<Array> mlir::rope::readNpy(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  return parseNpy((*buffer)->getBuffer(), path);
}

static StringRef getDescr(DType dtype) {
  static constexpr llvm::StringLiteral descrs[kNumDTypes] = {
      "<f2", "<u2", "<f4", "<f8", "|b1", "|i1", "<i2", "<i4",
      "<i8", "|u1", "<u2", "<u4", "<u8", "<c8", "<c16"};
  return descrs[static_cast<int32_t>(dtype)];
}

std::string mlir::rope::formatNpy(const Array &array) {
  std::string shape;
  for (int64_t size : array.getShape())
    shape += std::to_string(size) + ",";
  std::string header =
      ("{'descr': '" + getDescr(array.getDType()) +
       "', 'fortran_order': False, 'shape': (" + shape + "), }")
          .str();
  // The data starts at a multiple of 64 bytes, as the format wants.
  size_t start = llvm::alignTo(kMagic.size() + 4 + header.size() + 1, 64);
  header.resize(start - kMagic.size() - 4 - 1, ' ');
  header += '\n';
  std::string text = kMagic.str();
  text += StringRef("\x01\x00", 2);
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  text.append(length, 2);
  text += header;
  text.append(array.getData(), array.getNumBytes());
  return text;
}

llvm::Error mlir::rope::writeNpy(StringRef path, const Array &array) {
  return writeFile(path, formatNpy(array));
}
