#include "gateway/oauth/issuer_keys.h"

#include <atomic>
#include <memory>
#include <string>

#include "common/fake_clock.h"
#include "gateway/oauth/issuer_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

constexpr char kIssuer[] = "https://as.example";
constexpr char kMetadataUrl[] = "https://as.example/.well-known/oauth-authorization-server";
constexpr char kKeysUrl[] = "https://as.example/keys";

class IssuerKeysTest : public testing::Test {
 protected:
  IssuerKeysTest() {
    documents_.Put(kMetadataUrl, Json{{"issuer", kIssuer}, {"jwks_uri", kKeysUrl}}.dump());
    documents_.Put(kKeysUrl, KeySetText({}));
  }

  void Start() {
    keys_ = std::make_unique<IssuerKeys>(kIssuer, std::make_unique<FakeSource>(&documents_),
                                         &clock_, [this] { ++fetched_; });
    clock_.AwaitSleep();
  }
  void PutKeys(std::optional<absl::Duration> max_age) {
    documents_.Put(kKeysUrl, Document{.body = KeySetText({}), .max_age = max_age});
  }
  // Whether keys were fetched when this time had passed, and not a second before.
  bool FetchesAfter(absl::Duration time) {
    const int before = fetches();
    clock_.Advance(time - absl::Seconds(1));
    clock_.AwaitSleep();
    const bool too_early = fetches() != before;
    clock_.Advance(absl::Seconds(1));
    clock_.AwaitSleep();
    return !too_early && fetches() == before + 1;
  }
  int fetches() const { return documents_.requests(kMetadataUrl); }

  FakeClock clock_;
  FakeDocuments documents_;
  std::atomic<int> fetched_ = 0;
  std::unique_ptr<IssuerKeys> keys_;
};

TEST_F(IssuerKeysTest, AreFetchedAtOnceAndEveryTenMinutes) {
  Start();
  EXPECT_NE(keys_->keys(), nullptr);
  EXPECT_EQ(fetched_, 1);
  EXPECT_TRUE(FetchesAfter(absl::Minutes(10)));
  EXPECT_TRUE(FetchesAfter(absl::Minutes(10)));
  EXPECT_EQ(fetched_, 3);
}

TEST_F(IssuerKeysTest, MaxAgeSetsFetchIntervalWithinBounds) {
  PutKeys(absl::Minutes(3));
  Start();
  PutKeys(absl::ZeroDuration());
  EXPECT_TRUE(FetchesAfter(absl::Minutes(3)));
  PutKeys(absl::Hours(1000));
  EXPECT_TRUE(FetchesAfter(absl::Minutes(1)));
  EXPECT_TRUE(FetchesAfter(absl::Hours(24)));
}

TEST_F(IssuerKeysTest, AreRenewedForCallersAtMostTwicePerMinute) {
  Start();
  EXPECT_FALSE(keys_->Renew());
  clock_.Advance(absl::Seconds(29));
  EXPECT_FALSE(keys_->Renew());
  EXPECT_EQ(fetches(), 1);
  documents_.Hold();
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(keys_->Renew());
  documents_.AwaitHeld();
  EXPECT_TRUE(keys_->Renew());  // It is under way.
  documents_.Release();
  clock_.AwaitSleep();
  EXPECT_EQ(fetches(), 2);
  EXPECT_FALSE(keys_->Renew());
}

TEST_F(IssuerKeysTest, OldKeysStayValidForOneDayWhenFetchFails) {
  Start();
  const auto before = keys_->keys();
  documents_.Put(kKeysUrl, absl::UnavailableError("down"));
  EXPECT_TRUE(FetchesAfter(absl::Minutes(10)));
  EXPECT_EQ(keys_->keys(), before);
  EXPECT_EQ(fetched_, 2);
  EXPECT_FALSE(keys_->Renew());
  EXPECT_TRUE(FetchesAfter(absl::Seconds(30)));
  EXPECT_EQ(keys_->keys(), before);
  clock_.Advance(absl::Hours(24));
  clock_.AwaitSleep();
  EXPECT_EQ(keys_->keys(), nullptr);
  documents_.Put(kKeysUrl, KeySetText({}));
  EXPECT_TRUE(FetchesAfter(absl::Seconds(30)));
  EXPECT_NE(keys_->keys(), nullptr);
}

TEST_F(IssuerKeysTest, AreNullBeforeFirstSuccessfulFetch) {
  documents_.Put(kKeysUrl, Document{.body = "no JSON"});
  Start();
  EXPECT_EQ(keys_->keys(), nullptr);
}

}  // namespace
}  // namespace callslip::gateway
