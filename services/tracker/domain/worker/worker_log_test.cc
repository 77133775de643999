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
                      const std::vector<std::string>& entries) {
    std::vector<Payload> payloads;
    for (const std::string& entry : entries) {
      payloads.push_back(std::make_shared<const std::string>(entry));
    }
    return log_.Append("", worker, kind, std::move(payloads), clock_.Now());
  }
  std::vector<std::string> Listed(const WorkerLogFilter& filter = {}, int page_size = 0) {
    std::vector<std::string> texts;
    const auto entries = log_.List(filter, page_size);
    EXPECT_OK(entries);
    for (const WorkerLogEntry& entry : *entries) texts.push_back(*entry.entry);
    return texts;
  }

  FakeClock clock_;
  WorkerLog log_{{.entries_of_kind = 3, .bytes_of_kind = 100, .kinds_of_worker = 2, .workers = 2}};
};

TEST_F(WorkerLogTest, NewestComesFirstWhoeverSawIt) {
  ASSERT_OK(Append("w1", "logs", {"1", "2"}));
  ASSERT_OK(Append("w2", "logs", {"3"}));
  ASSERT_OK(Append("w1", "actions", {"4"}));
  EXPECT_THAT(Listed(), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(Listed({}, 2), ElementsAre("4", "3"));
  EXPECT_THAT(Listed({.worker_id = "w1"}), ElementsAre("4", "2", "1"));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Listed({.target = "laptop"}), IsEmpty());
  const auto entries = log_.List({.worker_id = "w2"}, 0);
  ASSERT_OK(entries);
  EXPECT_EQ((*entries)[0].sequence, 3);
  EXPECT_EQ((*entries)[0].target, "browser");
  EXPECT_EQ((*entries)[0].kind, "logs");
  EXPECT_EQ((*entries)[0].time, clock_.Now());
}

TEST_F(WorkerLogTest, OldEntriesOfAKindMakeRoom) {
  ASSERT_OK(Append("w1", "actions", {"a"}));
  ASSERT_OK(Append("w1", "logs", {"1", "2", "3", "4"}));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre("4", "3", "2"));
  const std::string large(60, 'x');
  ASSERT_OK(Append("w1", "logs", {large, large}));
  EXPECT_THAT(Listed({.kind = "logs"}), ElementsAre(large));
  EXPECT_THAT(Listed({.kind = "actions"}), ElementsAre("a"));
}

TEST_F(WorkerLogTest, WorkerThatSentNothingLongestMakesRoom) {
  ASSERT_OK(Append("w1", "logs", {"1"}));
  ASSERT_OK(Append("w2", "logs", {"2"}));
  ASSERT_OK(Append("w1", "logs", {"3"}));
  ASSERT_OK(Append("w3", "logs", {"4"}));
  EXPECT_THAT(Listed(), ElementsAre("4", "3", "1"));
}

TEST_F(WorkerLogTest, RefusesWhatIsTooMuch) {
  const auto refused = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  ASSERT_OK(Append("w1", "a", {"1"}));
  ASSERT_OK(Append("w1", "b", {"2"}));
  EXPECT_THAT(Append("w1", "c", {"3"}), refused);
  EXPECT_THAT(Append("w1", "", {"3"}), refused);
  EXPECT_THAT(Append("w1", std::string(65, 'k'), {"3"}), refused);
  EXPECT_THAT(Append("w1", "a", {"3", std::string(kMaxLogEntryBytes + 1, 'x')}), refused);
  EXPECT_THAT(Append("w1", "a", std::vector<std::string>(kMaxAppendedEntries + 1, "3")), refused);
  EXPECT_THAT(log_.List({}, -1), refused);
  EXPECT_THAT(Listed(), ElementsAre("2", "1")) << "all of a call or nothing";
  EXPECT_OK(Append("w1", "c", {})) << "nothing needs no room";
}

TEST_F(WorkerLogTest, AnswerHasABound) {
  WorkerLog log;
  const auto large = std::make_shared<const std::string>(kMaxLogEntryBytes, 'x');
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(
        log.Append("", absl::StrCat("w", i), "logs", {large, large, large, large}, clock_.Now()));
  }
  ASSERT_OK_AND_ASSIGN(const auto entries, log.List({}, 1000));
  EXPECT_THAT(entries, SizeIs(kMaxListedBytes / kMaxLogEntryBytes));
}

}  // namespace
}  // namespace callslip::tracker
