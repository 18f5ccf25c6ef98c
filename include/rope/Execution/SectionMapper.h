//===- SectionMapper.h - Memory for compiled code ---------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code reaches constants by offsets of 32 bits. The mapper that LLVM has takes
// each section from the system, which may put them further apart in a process
// with much memory; the linker does not notice.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_EXECUTION_SECTIONMAPPER_H
#define ROPE_EXECUTION_SECTIONMAPPER_H

#include "llvm/ExecutionEngine/SectionMemoryManager.h"

namespace mlir::rope {

/// Takes all sections from one range of addresses that is reserved at the
/// start. It has to outlive the code.
class SectionMapper : public llvm::SectionMemoryManager::MemoryMapper {
public:
  SectionMapper();
  ~SectionMapper() override;
  SectionMapper(const SectionMapper &) = delete;
  SectionMapper &operator=(const SectionMapper &) = delete;

  llvm::sys::MemoryBlock
  allocateMappedMemory(llvm::SectionMemoryManager::AllocationPurpose purpose,
                       size_t numBytes, const llvm::sys::MemoryBlock *nearBlock,
                       unsigned flags, std::error_code &error) override;
  std::error_code protectMappedMemory(const llvm::sys::MemoryBlock &block,
                                      unsigned flags) override;
  /// Keeps the block until the whole range goes.
  std::error_code releaseMappedMemory(llvm::sys::MemoryBlock &block) override;

private:
  char *base = nullptr;
  size_t size = 0, used = 0;
};

} // namespace mlir::rope

#endif // ROPE_EXECUTION_SECTIONMAPPER_H
