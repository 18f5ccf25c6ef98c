//===- CHeader.cpp - C headers for compiled models ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/CHeader.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::rope;

namespace {

/// Prints what belongs to one entry.
class EntryPrinter {
public:
  EntryPrinter(llvm::raw_ostream &os, const EntryPoint &entry,
               bool resultsAsOutParams);
  void print();

private:
  void printComment();
  void printResultStruct();
  void printPrototype();
  std::string getReturnType() const;
  std::vector<std::string> getParameters() const;

  llvm::raw_ostream &os;
  const EntryPoint &entry;
  std::string identifier;
  /// Results that the function returns or writes through its first pointer,
  /// and results that it writes into memory of the caller, by index.
  SmallVector<unsigned> returned, outParams;
};

} // namespace

/// `text` with all but letters, digits and underscores replaced.
static std::string getIdentifier(StringRef text) {
  std::string identifier = text.str();
  for (char &c : identifier)
    if (!llvm::isAlnum(c))
      c = '_';
  return identifier;
}

/// f16 and bf16 are given as their bits: not every C compiler has the types.
static StringRef getElementType(DType dtype) {
  static constexpr llvm::StringLiteral types[kNumDTypes] = {
      "uint16_t", "uint16_t", "float",    "double",   "uint8_t",
      "int8_t",   "int16_t",  "int32_t",  "int64_t",  "uint8_t",
      "uint16_t", "uint32_t", "uint64_t", "rope_c64", "rope_c128"};
  return types[static_cast<int32_t>(dtype)];
}

static std::string getDescriptorName(const ValueSpec &spec) {
  return "rope_memref_" +
         getIdentifier(spec.dtype == DType::C64    ? "c64"
                       : spec.dtype == DType::C128 ? "c128"
                                                   : getName(spec.dtype)) +
         "_" + std::to_string(spec.shape.size());
}

static std::string getCType(const ValueSpec &spec) {
  return spec.isScalar ? getElementType(spec.dtype).str()
                       : getDescriptorName(spec);
}

/// Defines a type once, whichever headers of models are included together.
static void printOnce(llvm::raw_ostream &os, const std::string &name,
                      const Twine &members) {
  std::string guard = StringRef(name).upper() + "_DEFINED";
  os << "#ifndef " << guard << "\n#define " << guard << "\ntypedef struct {\n"
     << members << "} " << name << ";\n#endif\n\n";
}

static void printDescriptor(llvm::raw_ostream &os, const ValueSpec &spec) {
  std::string element = getElementType(spec.dtype).str();
  std::string rank = std::to_string(spec.shape.size());
  std::string sizes =
      "  int64_t sizes[" + rank + "];\n  int64_t strides[" + rank + "];\n";
  printOnce(os, getDescriptorName(spec),
            "  " + element + " *allocated;\n  " + element +
                " *aligned;\n  int64_t offset;\n" +
                (spec.shape.empty() ? "" : sizes));
}

/// Numbers whose by-value convention in LLVM is not the one of C.
static bool hasForeignConvention(const ValueSpec &spec) {
  return spec.isScalar && (isComplex(spec.dtype) || spec.dtype == DType::F16 ||
                           spec.dtype == DType::BF16);
}

/// Whether assemblers and comments take `name` as it is.
static bool isPlainName(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || StringRef("_.$-").contains(c);
  });
}

/// Why C cannot call `entry`, or empty.
static std::string getObstacle(const EntryPoint &entry) {
  if (!entry.obstacle.empty())
    return entry.obstacle;
  if (!isPlainName(entry.name))
    return "linkers do not take its name";
  for (auto [index, spec] : llvm::enumerate(entry.args))
    if (hasForeignConvention(spec))
      return ("argument " + Twine(index) + " is a " + spec.type + " by value")
          .str();
  bool returnsShortFloat = entry.results.size() == 1 &&
                           hasForeignConvention(entry.results[0]) &&
                           !isComplex(entry.results[0].dtype);
  return returnsShortFloat ? "it returns a " + entry.results[0].type : "";
}

EntryPrinter::EntryPrinter(llvm::raw_ostream &os, const EntryPoint &entry,
                           bool resultsAsOutParams)
    : os(os), entry(entry), identifier(getIdentifier(entry.getWrapperName())) {
  for (auto [index, spec] : llvm::enumerate(entry.results))
    (resultsAsOutParams && !spec.isScalar ? outParams : returned)
        .push_back(index);
}

void EntryPrinter::printComment() {
  os << "/*\n * " << entry.getSignature() << "\n";
  for (auto [index, spec] : llvm::enumerate(entry.args))
    os << " *   arg" << index << ": " << spec.type
       << (spec.isWritable ? ", may be written" : "") << "\n";
  for (auto [index, spec] : llvm::enumerate(entry.results)) {
    os << " *   result" << index << ": " << spec.type;
    if (llvm::is_contained(outParams, index))
      os << ", memory of the caller";
    else if (!spec.isScalar)
      os << ", free(allocated) when done";
    os << "\n";
  }
  os << " */\n";
}

/// Whether the results are written through the first argument.
static bool usesPointer(const EntryPoint &entry, ArrayRef<unsigned> returned) {
  if (returned.size() != 1)
    return !returned.empty();
  const ValueSpec &spec = entry.results[returned[0]];
  return !spec.isScalar || isComplex(spec.dtype);
}

void EntryPrinter::printResultStruct() {
  if (returned.size() < 2)
    return;
  os << "typedef struct {\n";
  for (unsigned index : returned)
    os << "  " << getCType(entry.results[index]) << " result" << index << ";\n";
  os << "} " << identifier << "_results;\n";
}

std::string EntryPrinter::getReturnType() const {
  if (returned.empty() || usesPointer(entry, returned))
    return "void";
  return getCType(entry.results[returned[0]]);
}

std::vector<std::string> EntryPrinter::getParameters() const {
  std::vector<std::string> parameters;
  if (returned.size() > 1)
    parameters.push_back(identifier + "_results *results");
  else if (usesPointer(entry, returned))
    parameters.push_back(getCType(entry.results[returned[0]]) + " *result" +
                         std::to_string(returned[0]));
  for (auto [index, spec] : llvm::enumerate(entry.args))
    parameters.push_back(getCType(spec) + (spec.isScalar ? " " : " *") + "arg" +
                         std::to_string(index));
  for (unsigned index : outParams)
    parameters.push_back(getCType(entry.results[index]) + " *result" +
                         std::to_string(index));
  return parameters;
}

void EntryPrinter::printPrototype() {
  std::vector<std::string> parameters = getParameters();
  os << getReturnType() << " " << identifier << "("
     << (parameters.empty() ? "void" : llvm::join(parameters, ", ")) << ")";
  if (identifier != entry.getWrapperName())
    os << " __asm__(\"" << entry.getWrapperName() << "\")";
  os << ";\n\n";
}

void EntryPrinter::print() {
  std::string obstacle = getObstacle(entry);
  if (!obstacle.empty()) {
    os << "/* C cannot call " << getIdentifier(entry.name) << ": " << obstacle
       << ". */\n\n";
    return;
  }
  printComment();
  printResultStruct();
  printPrototype();
}

static void printTypes(llvm::raw_ostream &os, ArrayRef<EntryPoint> entries) {
  std::set<std::string> done;
  auto print = [&](const ValueSpec &spec) {
    std::string element = getElementType(spec.dtype).str();
    if (isComplex(spec.dtype) && done.insert(element).second) {
      std::string part = spec.dtype == DType::C64 ? "float" : "double";
      printOnce(os, element, "  " + part + " re, im;\n");
    }
    if (!spec.isScalar && done.insert(getDescriptorName(spec)).second)
      printDescriptor(os, spec);
  };
  for (const EntryPoint &entry : entries) {
    llvm::for_each(entry.args, print);
    llvm::for_each(entry.results, print);
  }
}

void mlir::rope::printCHeader(llvm::raw_ostream &os,
                              ArrayRef<EntryPoint> entries, StringRef name,
                              bool resultsAsOutParams, bool threads) {
  std::string guard = "ROPE_" + StringRef(getIdentifier(name)).upper();
  os << "/*\n * Entry functions of a model compiled by rope-compile.\n *\n"
        " * An array is passed by a descriptor: element (i, j, ...) lies at\n"
        " * aligned[offset + i * strides[0] + j * strides[1] + ...].\n"
        " * Arguments are row-major and dense, at offset 0; they stay the\n"
        " * caller's and are read only unless the comment says otherwise.\n"
        " * f16 and bf16 are given as their bits, i1 as 0 or 1. Link with -lm"
     << (threads ? " -lomp" : "") << ".\n */\n";
  os << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stdint.h>\n\n";
  printTypes(os, entries);
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const EntryPoint &entry : entries)
    EntryPrinter(os, entry, resultsAsOutParams).print();
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
}
