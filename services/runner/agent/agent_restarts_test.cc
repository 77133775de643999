#include "runner/agent/agent_restarts.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'769'947'200);
constexpr double kMiddle = 0.5;

std::optional<absl::Duration> WaitAfter(AgentRestarts& restarts, absl::Time now,
                                        double chance = kMiddle) {
  const auto next = restarts.After(AgentEnd::kCrashed, now, chance);
  if (!next.has_value()) return std::nullopt;
  return *next - now;
}

TEST(AgentRestartsTest, WaitsLongerEachTimeAndGivesUp) {
  AgentRestarts restarts;
  std::vector<absl::Duration> waits;
  for (int i = 0; i < AgentRestarts::kMaxRestarts; ++i) waits.push_back(*WaitAfter(restarts, kNow));
  EXPECT_THAT(waits, testing::ElementsAre(absl::ZeroDuration(), absl::Seconds(1), absl::Seconds(2),
                                          absl::Seconds(4), absl::Seconds(8)));
  EXPECT_FALSE(WaitAfter(restarts, kNow).has_value());
}

// A start that hangs for two minutes counts as one that ends at once.
TEST(AgentRestartsTest, GivesUpHoweverLongAStartTakes) {
  for (const absl::Duration each : {absl::ZeroDuration(), absl::Minutes(2), absl::Hours(1)}) {
    AgentRestarts restarts;
    for (int i = 0; i < AgentRestarts::kMaxRestarts; ++i) {
      EXPECT_TRUE(WaitAfter(restarts, kNow + i * each).has_value()) << each;
    }
    EXPECT_FALSE(WaitAfter(restarts, kNow + AgentRestarts::kMaxRestarts * each).has_value())
        << each;
  }
}

TEST(AgentRestartsTest, ForgetsEndAfterMemoryTime) {
  AgentRestarts restarts;
  EXPECT_FALSE(restarts.Remembers(kNow));
  (void)WaitAfter(restarts, kNow);
  EXPECT_TRUE(restarts.Remembers(kNow + absl::Minutes(9)));
  EXPECT_FALSE(restarts.Remembers(kNow + AgentRestarts::kMemory));
  restarts.Clear();
  EXPECT_FALSE(restarts.Remembers(kNow));
}

TEST(AgentRestartsTest, WaitIsRandomizedByTwentyPercent) {
  for (const double chance : {0.0, 0.5, 1.0}) {
    AgentRestarts restarts;
    (void)WaitAfter(restarts, kNow);
    EXPECT_EQ(WaitAfter(restarts, kNow, chance), absl::Seconds(1) * (0.8 + 0.4 * chance));
  }
}

TEST(AgentRestartsTest, StartsOverAfterClear) {
  AgentRestarts restarts;
  while (WaitAfter(restarts, kNow).has_value()) {
  }
  restarts.Clear();
  EXPECT_EQ(WaitAfter(restarts, kNow), absl::ZeroDuration());
}

TEST(AgentRestartsTest, PermanentFailureIsNotRetried) {
  for (const AgentEnd end : {AgentEnd::kCommandMissing, AgentEnd::kNotExecutable,
                             AgentEnd::kRefused, AgentEnd::kOtherVersion, AgentEnd::kLoginNeeded}) {
    AgentRestarts restarts;
    EXPECT_FALSE(restarts.After(end, kNow, kMiddle).has_value());
  }
  for (const AgentEnd end : {AgentEnd::kCrashed, AgentEnd::kHung, AgentEnd::kProtocolError}) {
    AgentRestarts restarts;
    EXPECT_TRUE(restarts.After(end, kNow, kMiddle).has_value());
  }
}

}  // namespace
}  // namespace callslip::runner
