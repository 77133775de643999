#include "gateway/memory_budget.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST(GatewayMemoryBudgetTest, TheSharesFitIntoWhatIsGiven) {
  for (const int64_t bytes : {320 * kMebibyte, MemoryBudget::kDefault, 4096 * kMebibyte}) {
    ASSERT_OK_AND_ASSIGN(const MemoryBudget budget, MemoryBudget::Of(bytes));
    int64_t sum = 0;
    for (const auto& share : budget.Shares()) sum += share.bytes;
    EXPECT_LE(sum, bytes);
  }
  EXPECT_EQ(MemoryBudget::Of(MemoryBudget::kDefault)->http.all_bodies_bytes,
            HttpLimits().all_bodies_bytes);
}

TEST(GatewayMemoryBudgetTest, TooLittleSaysWhatIsNeeded) {
  const absl::Status refused = MemoryBudget::Of(128 * kMebibyte).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(refused.message());
  const size_t at = message.rfind("at least ");
  ASSERT_NE(at, std::string::npos) << message;
  const int64_t least = std::stoll(message.substr(at + 9)) * kMebibyte;
  EXPECT_OK(MemoryBudget::Of(least));
  EXPECT_FALSE(MemoryBudget::Of(least - 2 * kMebibyte).ok());
}

}  // namespace
}  // namespace callslip::gateway
