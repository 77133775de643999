#include "gateway/web/ended_logins.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

absl::Time In(int seconds) { return kNow + absl::Seconds(seconds); }

TEST(EndedLoginsTest, ContainsOnlyEndedLogins) {
  EndedLogins ended;
  ended.Add("alice", "a", In(10), kNow);
  EXPECT_TRUE(ended.Contains("alice", "a", In(10)));
  EXPECT_FALSE(ended.Contains("alice", "b", In(10)));
  EXPECT_FALSE(ended.Contains("bob", "a", In(10)));
}

TEST(EndedLoginsTest, LoginsStayEndedWhenListIsFull) {
  EndedLogins ended;
  ended.Add("admin", "first", In(1), kNow);
  const int many = static_cast<int>(EndedLogins::kMaxLogins) + 50;
  for (int i = 0; i < many; ++i) ended.Add("viewer", absl::StrCat(i), In(100 + i), kNow);
  EXPECT_TRUE(ended.Contains("admin", "first", In(1)));
  for (int i = 0; i < many; ++i) {
    EXPECT_TRUE(ended.Contains("viewer", absl::StrCat(i), In(100 + i))) << i;
  }
  // A login that is newer than all forgotten ones goes on.
  EXPECT_FALSE(ended.Contains("viewer", "other", In(100 + many)));
  EXPECT_FALSE(ended.Contains("admin", "other", In(1)));
}

TEST(EndedLoginsTest, ExpiredLoginsAreRemovedFirst) {
  EndedLogins ended;
  ended.Add("alice", "mine", In(1000), kNow);
  const int most = static_cast<int>(EndedLogins::kMaxLogins);
  for (int i = 1; i < most; ++i) ended.Add("alice", absl::StrCat(i), In(10), kNow);
  ended.Add("alice", "more", In(1000), In(10));
  EXPECT_TRUE(ended.Contains("alice", "mine", In(1000)));
  EXPECT_TRUE(ended.Contains("alice", "more", In(1000)));
  EXPECT_FALSE(ended.Contains("alice", "other", In(10)));
}

}  // namespace
}  // namespace callslip::gateway
