#include "gateway/http/failure_quota.h"

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(1);

class FailureQuotaTest : public testing::Test {
 protected:
  bool MayAsk(const std::string& address) { return quota_.WaitOf(address) == absl::ZeroDuration(); }

  FakeClock clock_;
  FailureQuota quota_{&clock_, {.of_address = 3, .of_all = 10, .window = kWindow}};
};

TEST_F(FailureQuotaTest, AddressWaitsForRestOfItsWindow) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(MayAsk("a"));
    quota_.CountFailed("a");
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(quota_.WaitOf("a"), kWindow - absl::Seconds(3));
  EXPECT_TRUE(MayAsk("b"));
  clock_.Advance(kWindow - absl::Seconds(3));
  EXPECT_TRUE(MayAsk("a"));
  quota_.CountFailed("a");
  EXPECT_TRUE(MayAsk("a"));
}

TEST_F(FailureQuotaTest, OnlyFailedAddressesWaitAfterTotalLimit) {
  for (int i = 0; i < 10; ++i) {
    const std::string address = absl::StrCat("stranger-", i);
    EXPECT_TRUE(MayAsk(address));
    quota_.CountFailed(address);
  }
  EXPECT_EQ(quota_.WaitOf("stranger-0"), kWindow);
  EXPECT_TRUE(MayAsk("honest"));
  clock_.Advance(kWindow);
  EXPECT_TRUE(MayAsk("stranger-0"));
}

TEST_F(FailureQuotaTest, OldestAddressIsForgottenWhenThereAreTooMany) {
  for (int i = 0; i < 3; ++i) quota_.CountFailed("first");
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(MayAsk("first"));
  for (size_t i = 0; i < FailureQuota::kMaxAddresses; ++i) quota_.CountFailed(absl::StrCat(i));
  EXPECT_TRUE(MayAsk("first"));
}

}  // namespace
}  // namespace callslip::gateway
