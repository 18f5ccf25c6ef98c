//===- SectionMapperTest.cpp - Tests of the memory for compiled code ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rope/Execution/SectionMapper.h"
#include "gtest/gtest.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir::rope;
using llvm::sys::Memory;
using llvm::sys::MemoryBlock;
using Purpose = llvm::SectionMemoryManager::AllocationPurpose;

static MemoryBlock allocate(SectionMapper &mapper, Purpose purpose,
                            size_t size) {
  std::error_code error;
  MemoryBlock block = mapper.allocateMappedMemory(
      purpose, size, nullptr, Memory::MF_READ | Memory::MF_WRITE, error);
  EXPECT_EQ(static_cast<bool>(error), block.base() == nullptr);
  return block;
}

// Whatever else the process maps in between.
TEST(SectionMapper, BlocksAreWithinReach) {
  constexpr size_t kOther = size_t(3) << 30;
  SectionMapper mapper;
  std::vector<MemoryBlock> blocks;
  std::vector<void *> others;
  for (Purpose purpose : {Purpose::Code, Purpose::ROData, Purpose::RWData})
    for (size_t size : {size_t(1), size_t(4096), size_t(1) << 20}) {
      blocks.push_back(allocate(mapper, purpose, size));
      ASSERT_GE(blocks.back().allocatedSize(), size);
      std::memset(blocks.back().base(), 1, size);
      others.push_back(mmap(nullptr, kOther, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                            0));
    }
  for (MemoryBlock &one : blocks)
    for (MemoryBlock &other : blocks) {
      ptrdiff_t distance =
          static_cast<char *>(one.base()) - static_cast<char *>(other.base());
      EXPECT_LT(std::abs(distance) + (1 << 20), int64_t(1) << 31);
      EXPECT_TRUE(&one == &other ||
                  std::abs(distance) >= static_cast<ptrdiff_t>(4096));
    }
  for (void *other : others)
    munmap(other, kOther);
}

TEST(SectionMapper, RefusesMoreThanThereIs) {
  SectionMapper mapper;
  EXPECT_EQ(allocate(mapper, Purpose::ROData, (size_t(1) << 31) + 1).base(),
            nullptr);
  EXPECT_NE(allocate(mapper, Purpose::ROData, 1).base(), nullptr);
  EXPECT_EQ(allocate(mapper, Purpose::Code, size_t(1) << 31).base(), nullptr);
}
