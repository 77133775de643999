#include "tracker/domain/worker/worker_log.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WorkerLogTest : public testing::Test {
 protected:
  absl::Status Append(const std::string& worker, const std::string& kind,
                      const std::vector<std::string>& entries, const std::string& place = "") {
    std::vector<SeenByWorker> seen;
    for (const std::string& entry : entries) {
      seen.push_back({std::make_shared<const std::string>(entry), place});
    }
    return log_.Append("", worker, kind, "extension", std::move(seen), clock_.Now());
  }
  std::vector<std::string> Listed(const WorkerLogFilter& filter = {}, int page_size = 0) {
    return ListedTo(ClientScope::All(), filter, page_size);
  }
  std::vector<std::string> ListedTo(const ClientScope& clients, const WorkerLogFilter& filter = {},
                                    int page_size = 0) {
    std::vector<std::string> texts;
    const auto entries = log_.List(clients, filter, page_size);
    EXPECT_OK(entries);
    for (const WorkerLogEntry& entry : *entries) texts.push_back(*entry.entry);
    return texts;
  }
  // A command of the client, delivered at `delivered`, was reported at `place`.
  void Claim(const std::string& client, const std::string& place, absl::Time delivered,
             const std::string& worker = "w1") {
    log_.Claim({.target = "browser",
                .worker_id = worker,
                .place = place,
                .client_id = client,
                .delivered = delivered});
  }

  FakeClock clock_;
  WorkerLog log_{{.entries_of_kind = 3,
                  .bytes_of_kind = 100,
                  .kinds_of_worker = 2,
                  .workers = 2,
                  .claims_of_worker = 2,
                  .claiming_workers = 2}};
};

TEST_F(WorkerLogTest, NewestEntryComesFirstAcrossWorkers) {
  ASSERT_OK(Append("w1", "logs", {"1", "2"}));
  ASSERT_OK(Append("w2", "logs", {"3"}));
  ASSERT_OK(Append("w1", "actions", {"4"}));
  EXPECT_THAT(Listed(), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(Listed({}, 2), ElementsAre("4", "3"));
  EXPECT_THAT(Listed({.worker_id = "w1"}), ElementsAre("4", "2", "1"));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Listed({.target = "laptop"}), IsEmpty());
  const auto entries = log_.List(ClientScope::All(), {.worker_id = "w2"}, 0);
  ASSERT_OK(entries);
  EXPECT_EQ((*entries)[0].sequence, 3);
  EXPECT_EQ((*entries)[0].target, "browser");
  EXPECT_EQ((*entries)[0].kind, "logs");
  EXPECT_EQ((*entries)[0].time, clock_.Now());
}

TEST_F(WorkerLogTest, OldEntriesOfSameKindMakeRoom) {
  ASSERT_OK(Append("w1", "actions", {"a"}));
  ASSERT_OK(Append("w1", "logs", {"1", "2", "3", "4"}));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre("4", "3", "2"));
  const std::string large(60, 'x');
  ASSERT_OK(Append("w1", "logs", {large, large}));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre(large));
  EXPECT_THAT(Listed({.kind = "actions"}), ElementsAre("a"));
}

TEST_F(WorkerLogTest, LongestSilentWorkerMakesRoom) {
  ASSERT_OK(Append("w1", "logs", {"1"}));
  ASSERT_OK(Append("w2", "logs", {"2"}));
  ASSERT_OK(Append("w1", "logs", {"3"}));
  ASSERT_OK(Append("w3", "logs", {"4"}));
  EXPECT_THAT(Listed(), ElementsAre("4", "3", "1"));
}

TEST_F(WorkerLogTest, RefusesCallsBeyondLimits) {
  const auto refused = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  ASSERT_OK(Append("w1", "a", {"1"}));
  ASSERT_OK(Append("w1", "b", {"2"}));
  EXPECT_THAT(Append("w1", "c", {"3"}), refused);
  EXPECT_THAT(Append("w1", "", {"3"}), refused);
  EXPECT_THAT(Append("w1", std::string(65, 'k'), {"3"}), refused);
  EXPECT_THAT(Append("w1", "a", {"3", std::string(kMaxLogEntryBytes + 1, 'x')}), refused);
  EXPECT_THAT(Append("w1", "a", std::vector<std::string>(kMaxAppendedEntries + 1, "3")), refused);
  EXPECT_THAT(log_.List(ClientScope::All(), {}, -1), refused);
  EXPECT_THAT(Append("w1", "a", {"3"}, std::string(129, 'p')), refused);
  EXPECT_THAT(Listed(), ElementsAre("2", "1")) << "all of a call or nothing";
  EXPECT_OK(Append("w1", "c", {})) << "nothing needs no room";
}

TEST_F(WorkerLogTest, ListedBytesAreBounded) {
  WorkerLog log;
  const auto large = std::make_shared<const std::string>(kMaxLogEntryBytes, 'x');
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(log.Append("", absl::StrCat("w", i), "logs", "extension",
                         {{large, ""}, {large, ""}, {large, ""}, {large, ""}}, clock_.Now()));
  }
  ASSERT_OK_AND_ASSIGN(const auto entries, log.List(ClientScope::All(), {}, 1000));
  EXPECT_THAT(entries, SizeIs(kMaxListedBytes / kMaxLogEntryBytes));
}

TEST_F(WorkerLogTest, UnclaimedEntryBelongsToSender) {
  ASSERT_OK(Append("w1", "logs", {"1"}, "tab-1"));
  EXPECT_THAT(ListedTo("extension"), ElementsAre("1"));
  EXPECT_THAT(ListedTo("alice"), IsEmpty());
  EXPECT_THAT(Listed(), ElementsAre("1"));
}

TEST_F(WorkerLogTest, EntriesOfTabBelongToClientThatClaimedIt) {
  ASSERT_OK(Append("w1", "logs", {"before"}, "tab-1"));
  clock_.Advance(absl::Seconds(1));
  const absl::Time delivered = clock_.Now();
  ASSERT_OK(Append("w1", "logs", {"while it ran"}, "tab-1"));
  ASSERT_OK(Append("w1", "actions", {"other tab"}, "tab-2"));
  Claim("alice", "tab-1", delivered);
  ASSERT_OK(Append("w1", "logs", {"after"}, "tab-1"));
  ASSERT_OK(Append("w2", "logs", {"other browser"}, "tab-1"));
  EXPECT_THAT(ListedTo("alice"), ElementsAre("after", "while it ran"));
  EXPECT_THAT(ListedTo("bob"), IsEmpty());
  EXPECT_THAT(ListedTo("extension"), ElementsAre("other browser", "other tab", "before"));
}

TEST_F(WorkerLogTest, TabGoesToNextClientThatClaimsIt) {
  Claim("alice", "tab-1", clock_.Now());
  ASSERT_OK(Append("w1", "logs", {"alice's"}, "tab-1"));
  clock_.Advance(absl::Seconds(1));
  const absl::Time delivered = clock_.Now();
  ASSERT_OK(Append("w1", "logs", {"bob's"}, "tab-1"));
  Claim("bob", "tab-1", delivered);
  EXPECT_THAT(ListedTo("alice"), ElementsAre("alice's"));
  EXPECT_THAT(ListedTo("bob"), ElementsAre("bob's"));
  ASSERT_OK(Append("w1", "logs", {"new", "newer", "newest"}, "tab-1"));
  EXPECT_THAT(ListedTo("bob", {}, 2), ElementsAre("newest", "newer"));
}

TEST_F(WorkerLogTest, ClaimsAreBounded) {
  for (const char* place : {"tab-1", "tab-2", "tab-1", "tab-3"}) {
    Claim("alice", place, clock_.Now());
  }
  for (const char* place : {"tab-1", "tab-2", "tab-3"}) {
    ASSERT_OK(Append("w1", "logs", {place}, place));
  }
  EXPECT_THAT(ListedTo("alice"), ElementsAre("tab-3", "tab-1")) << "the oldest makes room";
  Claim("alice", "tab-1", clock_.Now(), "w2");
  Claim("alice", "tab-1", clock_.Now(), "w3");
  ASSERT_OK(Append("w1", "logs", {"w1 again"}, "tab-1"));
  EXPECT_THAT(ListedTo("extension"), ElementsAre("w1 again", "tab-2"));
}

TEST_F(WorkerLogTest, WorkerWithOldestLastClaimMakesRoom) {
  for (const char* worker : {"w1", "w2", "w1", "w3"}) {
    Claim("alice", "tab-1", clock_.Now(), worker);
  }
  ASSERT_OK(Append("w1", "logs", {"w1"}, "tab-1"));
  EXPECT_THAT(ListedTo("alice"), ElementsAre("w1"));
  ASSERT_OK(Append("w2", "logs", {"w2"}, "tab-1"));
  EXPECT_THAT(ListedTo("extension"), ElementsAre("w2"));
}

}  // namespace
}  // namespace callslip::tracker
