#include "tracker/domain/worker/worker_registry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/worker/worker_limits.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WorkerRegistryTest : public testing::Test {
 protected:
  std::shared_ptr<WorkerPresence> Seen(const std::string& worker_id,
                                       const std::string& target = "") {
    auto presence = registry_.Seen(target, worker_id, clock_.Now());
    EXPECT_OK(presence);
    return presence.value_or(nullptr);
  }
  WorkerPage Page(const std::string& target = "", std::vector<WorkerActivity> activities = {},
                  int page_size = 0, const std::string& page_token = "") {
    auto page = registry_.List(target, page_size, page_token, std::move(activities), clock_.Now());
    EXPECT_OK(page);
    return page.value_or(WorkerPage());
  }
  static std::vector<std::string> NamesOf(const WorkerPage& page) {
    std::vector<std::string> names;
    for (const WorkerStatus& worker : page.workers) {
      names.push_back(absl::StrCat(worker.target, "/", worker.worker_id));
    }
    return names;
  }
  static WorkerReport ReportWithTabs(size_t bytes) {
    return {.tabs = std::make_shared<const std::string>(bytes, 'x')};
  }

  FakeClock clock_;
  WorkerRegistry registry_;
};

TEST_F(WorkerRegistryTest, WorkersAreListedByTargetAndId) {
  Seen("");
  Seen("b", "laptop");
  Seen("a", "laptop");
  EXPECT_THAT(NamesOf(Page()), ElementsAre("browser/default", "laptop/a", "laptop/b"));
  EXPECT_THAT(NamesOf(Page("laptop")), ElementsAre("laptop/a", "laptop/b"));
  EXPECT_THAT(NamesOf(Page("elsewhere")), IsEmpty());
}

TEST_F(WorkerRegistryTest, WorkerSeenWithinTenSecondsIsConnected) {
  const auto presence = Seen("w1");
  clock_.Advance(absl::Seconds(10));
  EXPECT_TRUE(Page().workers[0].connected);
  EXPECT_EQ(Page().workers[0].seen_ago, absl::Seconds(10));
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_FALSE(Page().workers[0].connected);
  presence->Seen(clock_.Now());
  EXPECT_TRUE(Page().workers[0].connected);
  EXPECT_EQ(Page().workers[0].seen_ago, absl::ZeroDuration());
}

TEST_F(WorkerRegistryTest, WorkerWithHeldCallStaysConnected) {
  Seen("w1");
  clock_.Advance(absl::Hours(2));
  const WorkerActivity polls = {.target = "browser", .worker_id = "w1", .polls = true};
  ASSERT_THAT(Page("", {polls}).workers, SizeIs(1));
  EXPECT_TRUE(Page("", {polls}).workers[0].connected);
  EXPECT_EQ(Page("", {polls}).workers[0].seen_ago, absl::ZeroDuration());
}

TEST_F(WorkerRegistryTest, CommandReportsUpdateLastSeenTime) {
  Seen("w1");
  clock_.Advance(absl::Seconds(30));
  WorkerActivity activity = {.target = "browser",
                             .worker_id = "w1",
                             .last_report = clock_.Now() - absl::Seconds(2),
                             .commands = {nullptr}};
  const WorkerPage page = Page("", {activity});
  EXPECT_EQ(page.workers[0].seen_ago, absl::Seconds(2));
  EXPECT_THAT(page.workers[0].commands, SizeIs(1));
  activity.last_report = absl::InfinitePast();
  EXPECT_EQ(Page("", {activity}).workers[0].seen_ago, absl::Seconds(2)) << "it goes only forward";
}

TEST_F(WorkerRegistryTest, LastReportIsRetained) {
  ASSERT_OK(registry_.Report("", "w1", {.name = "Old"}, clock_.Now()));
  ASSERT_OK(registry_.Report("", "w1", {.name = "Laptop", .version = "0.1.0", .paused = true},
                             clock_.Now()));
  clock_.Advance(absl::Seconds(3));
  Seen("w1");
  const WorkerStatus worker = Page().workers[0];
  ASSERT_NE(worker.report, nullptr);
  EXPECT_EQ(worker.report->name, "Laptop");
  EXPECT_EQ(worker.report->version, "0.1.0");
  EXPECT_TRUE(worker.report->paused);
  EXPECT_EQ(worker.report_ago, absl::Seconds(3));
  EXPECT_EQ(worker.seen_ago, absl::ZeroDuration());
  Seen("w2");
  EXPECT_EQ(Page().workers[1].report, nullptr);
}

TEST_F(WorkerRegistryTest, LongTextsAreTruncatedAndLargeTabsRefused) {
  ASSERT_OK(registry_.Report("", "w1", {.name = std::string(300, 'n')}, clock_.Now()));
  EXPECT_THAT(Page().workers[0].report->name, SizeIs(kMaxWorkerTextBytes));
  EXPECT_OK(registry_.Report("", "w1", ReportWithTabs(kMaxTabsBytes), clock_.Now()));
  EXPECT_THAT(registry_.Report("", "w1", ReportWithTabs(kMaxTabsBytes + 1), clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(registry_.Seen("", std::string(129, 'w'), clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(registry_.Seen("a\nb", "", clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerRegistryTest, SilentWorkersAreForgottenAfterAnHour) {
  Seen("w1");
  clock_.Advance(kForgetWorkerAfter - absl::Nanoseconds(1));
  Seen("w2");
  EXPECT_THAT(Page().workers, SizeIs(2));
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_THAT(NamesOf(Page()), ElementsAre("browser/w2"));
}

TEST_F(WorkerRegistryTest, NewWorkerReplacesLongestSilentOne) {
  for (size_t i = 0; i < kMaxWorkers; ++i) {
    Seen(absl::StrCat("w", i));
    clock_.Advance(absl::Milliseconds(1));
  }
  Seen("w0");
  clock_.Advance(absl::Milliseconds(1));
  Seen("new");
  const WorkerPage page = Page();
  EXPECT_THAT(page.workers, SizeIs(kMaxWorkers));
  EXPECT_THAT(NamesOf(page), testing::Contains("browser/new"));
  EXPECT_THAT(NamesOf(page), testing::Contains("browser/w0"));
  EXPECT_THAT(NamesOf(page), testing::Not(testing::Contains("browser/w1")));
}

TEST_F(WorkerRegistryTest, WorkersAreListedInPages) {
  for (const char* id : {"a", "b", "c"}) Seen(id);
  const WorkerPage first = Page("", {}, 2);
  EXPECT_THAT(NamesOf(first), ElementsAre("browser/a", "browser/b"));
  const WorkerPage second = Page("", {}, 2, first.next_page_token);
  EXPECT_THAT(NamesOf(second), ElementsAre("browser/c"));
  EXPECT_EQ(second.next_page_token, "");
  EXPECT_THAT(registry_.List("", 0, "no token", {}, clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_page_token"));
  EXPECT_THAT(registry_.List("", -1, "", {}, clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerRegistryTest, PageOfLargeReportsEndsEarly) {
  const size_t fit = kMaxListedBytes / kMaxTabsBytes;
  for (size_t i = 0; i < fit + 1; ++i) {
    ASSERT_OK(
        registry_.Report("", absl::StrCat("w", i), ReportWithTabs(kMaxTabsBytes), clock_.Now()));
  }
  const WorkerPage first = Page();
  EXPECT_THAT(first.workers, SizeIs(fit));
  EXPECT_THAT(Page("", {}, 0, first.next_page_token).workers, SizeIs(1));
}

// A worker that comes to an open port serves the client `local` alone.
TEST_F(WorkerRegistryTest, WorkerOfOneClientCannotTakeNameInUse) {
  const WorkerTeller open{"local", ClientScope("local")};
  ASSERT_OK(registry_.Report("", "w1", {.name = "Laptop"}, clock_.Now()));
  EXPECT_THAT(registry_.Seen("", "w1", clock_.Now(), open).status(),
              FailsWith(absl::StatusCode::kAlreadyExists, "worker_taken"));
  EXPECT_THAT(registry_.Report("", "w1", {.name = "Fake"}, clock_.Now(), open),
              FailsWith(absl::StatusCode::kAlreadyExists, "worker_taken"));
  EXPECT_OK(registry_.Report("", "w2", {.name = "Own"}, clock_.Now(), open));
  EXPECT_OK(registry_.Report("", "w2", {.name = "Own"}, clock_.Now(), open));
  // A worker that is gone leaves its name, and gets it back when it returns.
  clock_.Advance(kNameKeptFor + absl::Seconds(1));
  EXPECT_OK(registry_.Seen("", "w1", clock_.Now(), open));
  const auto presence = Seen("w1");
  EXPECT_THAT(registry_.Seen("", "w1", clock_.Now(), open).status(),
              FailsWith(absl::StatusCode::kAlreadyExists, "worker_taken"));
  presence->Stays();
  clock_.Advance(absl::Hours(2));
  EXPECT_THAT(registry_.Seen("", "w1", clock_.Now(), open).status(),
              FailsWith(absl::StatusCode::kAlreadyExists, "worker_taken"));
  EXPECT_THAT(Page().workers, SizeIs(1)) << "it is not forgotten meanwhile";
  presence->Left(clock_.Now());
  clock_.Advance(kNameKeptFor);
  EXPECT_FALSE(registry_.Seen("", "w1", clock_.Now(), open).ok());
  clock_.Advance(absl::Seconds(1));
  EXPECT_OK(registry_.Seen("", "w1", clock_.Now(), open));
}

// The calls of such a worker do not keep the name for another one that is gone for good.
TEST_F(WorkerRegistryTest, WorkerOfOneClientDoesNotReserveNameForOthers) {
  const WorkerTeller open{"local", ClientScope("local")};
  const auto own = registry_.Seen("", "w1", clock_.Now(), open);
  ASSERT_OK(own);
  (*own)->Stays();
  Seen("w1");
  clock_.Advance(kNameKeptFor + absl::Seconds(1));
  (*own)->Seen(clock_.Now());
  Page("", {{.target = "browser", .worker_id = "w1", .takes = open.takes, .polls = true}});
  EXPECT_OK(registry_.Seen("", "w1", clock_.Now(), open));
}

TEST_F(WorkerRegistryTest, WorkersWithSameNameAreListedWithAllCommands) {
  Seen("w1");
  const WorkerActivity of_all = {.target = "browser", .worker_id = "w1", .commands = {nullptr}};
  const WorkerActivity of_one = {.target = "browser",
                                 .worker_id = "w1",
                                 .takes = ClientScope("local"),
                                 .commands = {nullptr, nullptr}};
  const WorkerPage page = Page("", {of_all, of_one});
  ASSERT_THAT(page.workers, SizeIs(1));
  EXPECT_THAT(page.workers[0].commands, SizeIs(3));
}

}  // namespace
}  // namespace callslip::tracker
