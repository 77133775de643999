#include "common/log_limit.h"

#include "common/fake_clock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(LogLimitTest, LimitsLinesPerSecondAndCountsDroppedLines) {
  FakeClock clock;
  LogLimit limit(&clock, 2);
  EXPECT_EQ(limit.Admit(), 0);
  clock.Advance(absl::Milliseconds(999));
  EXPECT_EQ(limit.Admit(), 0);
  EXPECT_EQ(limit.Admit(), std::nullopt);
  EXPECT_EQ(limit.Admit(), std::nullopt);
  clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(limit.Admit(), 2);
  EXPECT_EQ(limit.Admit(), 0);
  EXPECT_EQ(limit.Admit(), std::nullopt);
}

}  // namespace
}  // namespace callslip
