#include "tracker/metrics/memory_budget.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

int64_t SumOf(const MemoryBudget& budget) {
  int64_t sum = 0;
  for (const auto& share : budget.Shares()) sum += share.bytes;
  return sum;
}

TEST(MemoryBudgetTest, SharesFitIntoTheBudget) {
  for (const int64_t bytes : {1280 * kMiB, 2048 * kMiB, 3072 * kMiB, MemoryBudget::kDefault,
                              16 * MemoryBudget::kDefault}) {
    ASSERT_OK_AND_ASSIGN(const MemoryBudget budget, MemoryBudget::Of(bytes));
    EXPECT_LE(SumOf(budget), bytes);
    for (const auto& share : budget.Shares()) EXPECT_GT(share.bytes, 0) << share.table;
  }
}

TEST(MemoryBudgetTest, DefaultBudgetLeavesEveryLimitUnchanged) {
  ASSERT_OK_AND_ASSIGN(const MemoryBudget budget, MemoryBudget::Of(MemoryBudget::kDefault));
  EXPECT_EQ(budget.commands.commands, CommandLimits().commands);
  EXPECT_EQ(budget.commands.payload_bytes, CommandLimits().payload_bytes);
  EXPECT_EQ(budget.commands.waits_of_client, CommandLimits().waits_of_client);
  EXPECT_EQ(budget.annotations.bytes, AnnotationLimits().bytes);
  EXPECT_EQ(budget.sessions.agent_text_bytes, SessionLimits().agent_text_bytes);
}

TEST(MemoryBudgetTest, LessMemoryReducesTheLimits) {
  ASSERT_OK_AND_ASSIGN(const MemoryBudget budget, MemoryBudget::Of(2048 * kMiB));
  EXPECT_LT(budget.commands.commands, CommandLimits().commands / 2);
  EXPECT_LT(budget.commands.payload_bytes_of_client, CommandLimits().payload_bytes_of_client / 2);
  EXPECT_LT(budget.annotations.bytes, AnnotationLimits().bytes / 2);
}

TEST(MemoryBudgetTest, TooLittleMemoryIsRefusedWithTheRequiredSize) {
  const absl::Status refused = MemoryBudget::Of(512 * kMiB).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(refused.message());
  EXPECT_THAT(message, HasSubstr("--memory 512MiB is too little"));
  const size_t at = message.rfind("at least ");
  ASSERT_NE(at, std::string::npos);
  // The size that it names is enough, and a smaller one is not.
  const int64_t least = std::stoll(message.substr(at + 9)) * kMiB;
  EXPECT_OK(MemoryBudget::Of(least));
  EXPECT_FALSE(MemoryBudget::Of(least - 2 * kMiB).ok());
}

}  // namespace
}  // namespace callslip::tracker
