//===- SectionMapper.cpp - Memory for compiled code -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reserves addresses, which costs no memory, and gives them out in order.
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/SectionMapper.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"

#include <sys/mman.h>

using namespace mlir::rope;
using llvm::sys::MemoryBlock;

/// What an offset of 32 bits reaches from anywhere in the range.
static constexpr size_t kLargest = size_t(1) << 31;
static constexpr size_t kSmallest = size_t(1) << 24;

SectionMapper::SectionMapper() {
  // A process with a limit on its addresses gets what it may have.
  for (size = kLargest; size >= kSmallest; size /= 2) {
    void *range = mmap(nullptr, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) {
      base = static_cast<char *>(range);
      return;
    }
  }
  size = 0;
}

SectionMapper::~SectionMapper() {
  if (base)
    munmap(base, size);
}

MemoryBlock SectionMapper::allocateMappedMemory(
    llvm::SectionMemoryManager::AllocationPurpose, size_t numBytes,
    const MemoryBlock *, unsigned flags, std::error_code &error) {
  if (numBytes > size - used) {
    error = std::make_error_code(std::errc::not_enough_memory);
    return MemoryBlock();
  }
  size_t pages =
      llvm::alignTo(numBytes, llvm::sys::Process::getPageSizeEstimate());
  MemoryBlock block(base + used, pages);
  error = protectMappedMemory(block, flags);
  if (error)
    return MemoryBlock();
  used += pages;
  return block;
}

std::error_code SectionMapper::protectMappedMemory(const MemoryBlock &block,
                                                   unsigned flags) {
  return llvm::sys::Memory::protectMappedMemory(block, flags);
}

std::error_code SectionMapper::releaseMappedMemory(MemoryBlock &block) {
  block = MemoryBlock();
  return std::error_code();
}
