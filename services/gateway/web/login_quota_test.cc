#include "gateway/web/login_quota.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

class LoginQuotaTest : public testing::Test {
 protected:
  bool MayLogIn(const std::string& address) { return quota_.Take(address).ok(); }
  void Fail(const std::string& address, int times) {
    for (int i = 0; i < times; ++i) quota_.CountFailed(address);
  }

  FakeClock clock_;
  LoginQuota quota_{&clock_};
};

TEST_F(LoginQuotaTest, NumberOfWaitingLoginsPerAddressIsBounded) {
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < LoginQuota::kMaxWaitingOfAddress; ++i) {
    ASSERT_OK_AND_ASSIGN(places.emplace_back(), quota_.Take("a"));
  }
  const absl::Status refusal = quota_.Take("a").status();
  EXPECT_EQ(DetailsOf(refusal).reason, "too_many_logins");
  EXPECT_EQ(DetailsOf(refusal).retry_after, absl::Seconds(5));
  EXPECT_TRUE(MayLogIn("b"));
  places.pop_back();
  EXPECT_TRUE(MayLogIn("a"));
}

TEST_F(LoginQuotaTest, TotalNumberOfWaitingLoginsIsBounded) {
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < LoginQuota::kMaxWaiting; ++i) {
    ASSERT_OK_AND_ASSIGN(places.emplace_back(), quota_.Take(absl::StrCat(i)));
  }
  EXPECT_FALSE(MayLogIn("other"));
  places.pop_back();
  EXPECT_TRUE(MayLogIn("other"));
}

TEST_F(LoginQuotaTest, AddressWithFailedLoginsMustWait) {
  Fail("a", LoginQuota::kMaxFailedOfAddress - 1);
  EXPECT_TRUE(MayLogIn("a"));
  clock_.Advance(absl::Seconds(20));
  Fail("a", 1);
  EXPECT_EQ(DetailsOf(quota_.Take("a").status()).retry_after,
            LoginQuota::kWindow - absl::Seconds(20));
  EXPECT_TRUE(MayLogIn("b"));
  clock_.Advance(LoginQuota::kWindow - absl::Seconds(20));
  EXPECT_TRUE(MayLogIn("a"));
}

}  // namespace
}  // namespace callslip::gateway
