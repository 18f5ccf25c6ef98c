//===- Npz.cpp - NumPy's archives of arrays -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `.npz` file is a zip archive (PKWARE's APPNOTE.TXT) with an `.npy` file
// for each array. The central directory at its end is what counts. zlib does
// the inflating and the checksums.
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/Files.h"
#include "rope/Execution/Npy.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include <zlib.h>

using namespace mlir::rope;
using namespace llvm::support::endian;
using llvm::StringRef;

namespace {

/// What the central directory says of one file.
struct Entry {
  StringRef name;
  unsigned flags, method;
  uint32_t crc, storedSize, size, headerOffset;
};

} // namespace

static constexpr uint32_t kLocalMagic = 0x04034b50;
static constexpr uint32_t kEntryMagic = 0x02014b50;
static constexpr uint32_t kEndMagic = 0x06054b50;
static constexpr size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22;
static constexpr unsigned kStored = 0, kDeflated = 8;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// The record that ends the archive. A comment of up to 64 KiB may follow it.
static StringRef findEnd(StringRef bytes) {
  if (bytes.size() < kEndSize)
    return {};
  size_t last = bytes.size() - kEndSize;
  size_t first = last > 0xffff ? last - 0xffff : 0;
  for (size_t i = last + 1; i-- > first;)
    if (read32le(bytes.data() + i) == kEndMagic)
      return bytes.drop_front(i);
  return {};
}

/// Cuts one entry off the central directory.
static llvm::Expected<Entry> takeEntry(StringRef &directory) {
  if (directory.size() < kEntrySize ||
      read32le(directory.data()) != kEntryMagic)
    return fail("the directory of the archive is damaged");
  const char *data = directory.data();
  Entry entry;
  entry.flags = read16le(data + 8);
  entry.method = read16le(data + 10);
  entry.crc = read32le(data + 16);
  entry.storedSize = read32le(data + 20);
  entry.size = read32le(data + 24);
  entry.headerOffset = read32le(data + 42);
  size_t nameSize = read16le(data + 28);
  size_t length =
      kEntrySize + nameSize + read16le(data + 30) + read16le(data + 32);
  if (length > directory.size())
    return fail("the directory of the archive is damaged");
  entry.name = directory.substr(kEntrySize, nameSize);
  directory = directory.drop_front(length);
  return entry;
}

/// The bytes of `entry` as the archive stores them.
static llvm::Expected<StringRef> getStored(StringRef bytes,
                                           const Entry &entry) {
  if (entry.storedSize == 0xffffffff || entry.size == 0xffffffff ||
      entry.headerOffset == 0xffffffff)
    return fail("it is larger than 4 GiB, which is not supported");
  if (entry.flags & 1)
    return fail("it is encrypted");
  if (bytes.size() < kLocalSize ||
      entry.headerOffset > bytes.size() - kLocalSize ||
      read32le(bytes.data() + entry.headerOffset) != kLocalMagic)
    return fail("its header is damaged");
  const char *header = bytes.data() + entry.headerOffset;
  uint64_t start = static_cast<uint64_t>(entry.headerOffset) + kLocalSize +
                   read16le(header + 26) + read16le(header + 28);
  if (start + entry.storedSize > bytes.size())
    return fail("the archive ends inside it");
  return bytes.substr(start, entry.storedSize);
}

static llvm::Error inflateAll(StringRef stored, std::string &text) {
  z_stream stream = {};
  // Negative: a raw stream without zlib's own header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return fail("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(stored.data()));
  stream.avail_in = stored.size();
  stream.next_out = reinterpret_cast<Bytef *>(text.data());
  stream.avail_out = text.size();
  int status = inflate(&stream, Z_FINISH);
  bool complete = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!complete)
    return fail("its compressed data is damaged");
  return llvm::Error::success();
}

/// The text of the file that `entry` describes, its checksum compared.
static llvm::Expected<std::string> extract(StringRef bytes,
                                           const Entry &entry) {
  llvm::Expected<StringRef> stored = getStored(bytes, entry);
  if (!stored)
    return stored.takeError();
  std::string text;
  if (entry.method == kStored) {
    text = stored->str();
  } else if (entry.method == kDeflated) {
    // Deflate shrinks by 1032 at most: no small file makes us take gigabytes.
    if (entry.size / 1032 > stored->size())
      return fail("its sizes contradict each other");
    text.resize(entry.size);
    if (llvm::Error error = inflateAll(*stored, text))
      return std::move(error);
  } else {
    return fail("its compression method " + llvm::Twine(entry.method) +
                " is not supported");
  }
  if (text.size() != entry.size)
    return fail("its sizes contradict each other");
  auto *data = reinterpret_cast<const Bytef *>(text.data());
  if (crc32_z(0, data, text.size()) != entry.crc)
    return fail("its checksum is wrong");
  return text;
}

static llvm::Error parseEntry(StringRef bytes, const Entry &entry,
                              StringRef name, NamedArrays &arrays) {
  llvm::Expected<std::string> text = extract(bytes, entry);
  if (!text)
    return fail("'" + name + "': array '" + entry.name +
                "': " + llvm::toString(text.takeError()));
  llvm::Expected<Array> array =
      parseNpy(*text, (name + ":" + entry.name).str());
  if (!array)
    return array.takeError();
  StringRef key = entry.name;
  key.consume_back(".npy");
  arrays.emplace_back(key.str(), std::move(*array));
  return llvm::Error::success();
}

llvm::Expected<NamedArrays> mlir::rope::parseNpz(StringRef bytes,
                                                 StringRef name) {
  StringRef end = findEnd(bytes);
  if (end.empty())
    return fail("'" + name + "': not an .npz file (it has no zip directory)");
  uint64_t start = read32le(end.data() + 16), size = read32le(end.data() + 12);
  if (start + size > bytes.size())
    return fail("'" + name + "': the directory of the archive is damaged");
  StringRef directory = bytes.substr(start, size);
  NamedArrays arrays;
  for (unsigned i = 0, e = read16le(end.data() + 10); i != e; ++i) {
    llvm::Expected<Entry> entry = takeEntry(directory);
    if (!entry)
      return fail("'" + name + "': " + llvm::toString(entry.takeError()));
    if (llvm::Error error = parseEntry(bytes, *entry, name, arrays))
      return std::move(error);
  }
  return arrays;
}

llvm::Expected<NamedArrays> mlir::rope::readNpz(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  return parseNpz((*buffer)->getBuffer(), path);
}

const Array *mlir::rope::findArray(const NamedArrays &arrays, StringRef name) {
  for (const auto &[key, array] : arrays)
    if (key == name)
      return &array;
  return nullptr;
}

static void append(std::string &text, uint32_t value, size_t width) {
  for (size_t i = 0; i != width; ++i)
    text += static_cast<char>(value >> (8 * i));
}

/// The fields that the header of a file and its directory entry share.
static void appendFields(std::string &text, StringRef file, StringRef name) {
  append(text, 20, 2);      // version needed to extract
  append(text, 0, 2);       // flags
  append(text, kStored, 2); // method
  append(text, 0, 2);       // time
  append(text, 0x21, 2);    // date: 1 January 1980
  auto *data = reinterpret_cast<const Bytef *>(file.data());
  append(text, crc32_z(0, data, file.size()), 4);
  append(text, file.size(), 4);
  append(text, file.size(), 4);
  append(text, name.size(), 2);
  append(text, 0, 2); // extra field
}

static void appendEntry(std::string &text, StringRef file, StringRef name,
                        uint32_t headerOffset) {
  append(text, kEntryMagic, 4);
  append(text, 20, 2); // version made by
  appendFields(text, file, name);
  append(text, 0, 2); // comment
  append(text, 0, 2); // disk
  append(text, 0, 2); // internal attributes
  append(text, 0, 4); // external attributes
  append(text, headerOffset, 4);
  text += name;
}

llvm::Error mlir::rope::writeNpz(
    StringRef path,
    llvm::ArrayRef<std::pair<std::string, const Array *>> arrays) {
  std::string text, directory;
  for (const auto &[key, array] : arrays) {
    std::string file = formatNpy(*array), name = key + ".npy";
    size_t offset = text.size();
    if (offset + file.size() + name.size() + kLocalSize >= 0xffffffff)
      return fail("'" + path + "': the results pass 4 GiB, write .npy files");
    append(text, kLocalMagic, 4);
    appendFields(text, file, name);
    text += name;
    text += file;
    appendEntry(directory, file, name, offset);
  }
  size_t start = text.size();
  text += directory;
  append(text, kEndMagic, 4);
  append(text, 0, 4); // disks
  append(text, arrays.size(), 2);
  append(text, arrays.size(), 2);
  append(text, directory.size(), 4);
  append(text, start, 4);
  append(text, 0, 2); // comment
  return writeFile(path, text);
}
