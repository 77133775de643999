#include "common/memory_release.h"

#include <algorithm>
#include <cstddef>

#include "gtest/gtest.h"

namespace callslip {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class MemoryReleaseTest : public testing::Test {
 protected:
  size_t spare_ = 0;
  MemoryRelease memory_{{.bytes = [this] { return spare_; },
                         .release = [this](size_t bytes) { spare_ -= std::min(spare_, bytes); }}};
};

TEST_F(MemoryReleaseTest, WhatABurstLeavesGoesStepByStepButForALittle) {
  spare_ = 300 * kMiB;
  memory_.Look();
  EXPECT_EQ(spare_, 300 * kMiB);  // It may be about to be used.
  memory_.Look();
  EXPECT_EQ(spare_, 300 * kMiB - MemoryRelease::kMostAtOnce);
  for (int look = 0; look < 10; ++look) memory_.Look();
  EXPECT_EQ(spare_, MemoryRelease::kKept);
}

TEST_F(MemoryReleaseTest, WhatIsInUseNowAndThenStays) {
  for (int look = 0; look < 10; ++look) {
    spare_ = look % 2 == 0 ? 300 * kMiB : MemoryRelease::kKept;
    const size_t before = spare_;
    memory_.Look();
    EXPECT_EQ(spare_, before);
  }
}

TEST_F(MemoryReleaseTest, OnlyTheLeastOfTwoLooksGoes) {
  spare_ = 20 * kMiB;
  memory_.Look();
  spare_ = 300 * kMiB;
  memory_.Look();
  EXPECT_EQ(spare_, 280 * kMiB + MemoryRelease::kKept);
}

TEST(SpareMemoryTest, WithoutItsAllocatorThereIsNothingToGive) {
  MemoryRelease(SpareMemory()).Look();
}

}  // namespace
}  // namespace callslip
