#include <memory>
#include <string>
#include <vector>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

class CommandDrainingTest : public HeldCallTest {};

TEST_F(CommandDrainingTest, WatchesAndHeldCallsEndAsIfTimedOut) {
  const std::string id = Register();
  LeaseOne();
  const auto feed = std::make_shared<RecordingFeed>();
  Watch(id, feed, {.after_revision = 100});
  Hold("w2");
  Hold({.target = "elsewhere", .worker_id = "w3", .hold_until = absl::InfiniteFuture()});
  EXPECT_EQ(table_.waits(), 3);
  table_.Drain();
  EXPECT_THAT(feed->seen, ElementsAre(IsWatchOver()));
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_TRUE(answers_[0].news.empty());
  EXPECT_TRUE(answers_[1].news.empty());
  EXPECT_EQ(table_.waits(), 0);
  table_.Drain();
  EXPECT_THAT(feed->seen, SizeIs(1));
}

TEST_F(CommandDrainingTest, NewWorkIsRefusedWhileReportsAndReadsContinue) {
  CommandRequest request = Request();
  request.request_id = "r1";
  const std::string id = Register(request);
  const CommandLease lease = LeaseOne();
  const std::string dead_letter = Register();
  ASSERT_OK(table_.Expire(kClient, dead_letter, {}, clock_.Now()));
  const std::string queued = Register();
  table_.Drain();

  const auto draining = FailsWith(StatusCode::kUnavailable, "draining");
  EXPECT_THAT(TryRegister(Request()), draining);
  EXPECT_GT(DetailsOf(TryRegister(Request()).status()).retry_after, absl::ZeroDuration());
  EXPECT_THAT(table_.Replay(kClient, dead_letter, "", clock_.Now()), draining);
  const auto feed = std::make_shared<RecordingFeed>();
  EXPECT_THAT(table_.Watch(id, {.clients = kClient, .feed = feed}), draining);
  EXPECT_THAT(table_.WatchAll({.clients = kClient, .feed = feed}), draining);
  EXPECT_THAT(table_.Lease({}, clock_.Now(), [](WorkerNews) { FAIL(); }), draining);

  EXPECT_TRUE(TryRegister(request)->existed);
  EXPECT_OK(Acknowledge(lease));
  EXPECT_OK(Complete(lease));
  EXPECT_OK(Get(id));
  EXPECT_OK(Cancel(queued));
  EXPECT_THAT(table_.List(kClient, {}, 0, "")->commands, SizeIs(3));
}

TEST_F(CommandDrainingTest, DeadlinesStillFire) {
  const std::string id = Register();
  table_.Drain();
  ExpectEndAfter(absl::Seconds(30), id, CommandState::kExpired, "never_delivered", false);
}

// When the last worker lets go.

TEST_F(CommandDrainingTest, ActionRunsAtOnceWithoutLeases) {
  int times = 0;
  Register();
  table_.OnNoLeases([&] { ++times; });
  EXPECT_EQ(times, 1);
}

TEST_F(CommandDrainingTest, ActionRunsOnceWhenLastLeaseEnds) {
  Register();
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  Register(elsewhere);
  const CommandLease first = LeaseOne();
  const CommandLease second = Poll({.target = "elsewhere"}).leases[0];
  int times = 0;
  table_.OnNoLeases([&] { ++times; });
  ASSERT_OK(Complete(first));
  EXPECT_EQ(times, 0);
  Advance(absl::Seconds(3));
  EXPECT_EQ(times, 1);
  EXPECT_FALSE(Complete(second)->accepted);
  Register();
  ASSERT_OK(Complete(LeaseOne()));
  EXPECT_EQ(times, 1);
}

TEST_F(CommandDrainingTest, ActionCanCallTable) {
  int times = 0;
  const auto action = [&] {
    ++times;
    table_.OnNoLeases(nullptr);
  };
  table_.OnNoLeases(action);
  EXPECT_EQ(times, 1);
  Register();
  const CommandLease lease = LeaseOne();
  table_.OnNoLeases(action);
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(times, 2);
}

TEST_F(CommandDrainingTest, RemovedActionDoesNotRun) {
  Register();
  const CommandLease lease = LeaseOne();
  table_.OnNoLeases([] { FAIL(); });
  table_.OnNoLeases(nullptr);
  ASSERT_OK(Complete(lease));
}

TEST_F(CommandDrainingTest, TableCanBeDestroyedWithWatchesAndHeldCalls) {
  const auto feed = std::make_shared<RecordingFeed>();
  {
    CommandTable table{CommandDeadlines{}};
    ASSERT_OK_AND_ASSIGN(const CommandRegistration command,
                         table.Register(Request(), clock_.Now()));
    ASSERT_OK(table.Watch(IdOf(*command.command), {.clients = kClient, .feed = feed}));
    ASSERT_OK(table.WatchAll({.clients = kClient, .feed = feed}));
    ASSERT_OK(table.Lease({.target = "elsewhere", .hold_until = absl::InfiniteFuture()},
                          clock_.Now(), [feed](WorkerNews) {}));
  }
  EXPECT_EQ(feed.use_count(), 1);
}

}  // namespace
}  // namespace callslip::tracker
