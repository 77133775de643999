#include "common/memory_release.h"

#include <algorithm>
#include <cstddef>
#include <string>

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

TEST_F(MemoryReleaseTest, SpareMemoryOfBurstIsReleasedGradually) {
  spare_ = 300 * kMiB;
  memory_.Look();
  EXPECT_EQ(spare_, 300 * kMiB);  // The memory may be used again soon.
  memory_.Look();
  EXPECT_EQ(spare_, 300 * kMiB - MemoryRelease::kMaxAtOnce);
  for (int look = 0; look < 4; ++look) memory_.Look();
  EXPECT_EQ(spare_, MemoryRelease::kKept);
  memory_.Look();
  EXPECT_EQ(spare_, MemoryRelease::kKept / 2);
  for (int look = 0; look < 10; ++look) memory_.Look();
  EXPECT_EQ(spare_, MemoryRelease::kTooLittle);
}

TEST_F(MemoryReleaseTest, MemoryUsedNowAndThenIsNotReleased) {
  for (int look = 0; look < 10; ++look) {
    spare_ = look % 2 == 0 ? 300 * kMiB : MemoryRelease::kTooLittle;
    const size_t before = spare_;
    memory_.Look();
    EXPECT_EQ(spare_, before);
  }
}

TEST_F(MemoryReleaseTest, OnlyMinimumOfTwoLooksIsReleased) {
  spare_ = 20 * kMiB;
  memory_.Look();
  spare_ = 300 * kMiB;
  memory_.Look();
  EXPECT_EQ(spare_, 280 * kMiB + MemoryRelease::kKept);
}

TEST(HeapUseTest, AllocatedMemoryIsInUse) {
  const size_t before = HeapUse::OfThisProcess().in_use;
  const std::string large(64 * kMiB, 'x');
  const size_t with = HeapUse::OfThisProcess().in_use;
  // The allocator of a sanitizer does not report its use.
  if (with != 0) {
    EXPECT_GE(with, before + large.size());
  }
}

TEST(SpareMemoryTest, NothingIsReleasedWithoutItsAllocator) { MemoryRelease(SpareMemory()).Look(); }

}  // namespace
}  // namespace callslip
