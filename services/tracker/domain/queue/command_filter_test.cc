#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::UnorderedElementsAre;

// Watches of all commands that match a filter.
class CommandFilterTest : public CommandTableTest {
 protected:
  using CommandTableTest::CommandTableTest;

  CommandTable::Watching WatchAll(const std::shared_ptr<CommandFeed>& feed,
                                  CommandFilter filter = {}, bool only_end = false) {
    auto watching = table_.WatchAll({.clients = kClient,
                                     .filter = std::move(filter),
                                     .feed = feed,
                                     .watch_id = 9,
                                     .only_end = only_end});
    EXPECT_OK(watching);
    return watching.ok() ? *watching : CommandTable::Watching{};
  }

  const std::shared_ptr<RecordingFeed> feed_ = std::make_shared<RecordingFeed>();
  const std::shared_ptr<RecordingFeed> slow_feed_ =
      std::make_shared<RecordingFeed>(RecordingFeed::Reader::kSlow);
};

TEST_F(CommandFilterTest, ReportsExistingAndNewCommands) {
  const std::string before = Register();
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  const std::string before_elsewhere = Register(std::move(elsewhere));
  WatchAll(feed_);
  EXPECT_THAT(feed_->Ids(), UnorderedElementsAre(before, before_elsewhere));
  feed_->seen.clear();

  const std::string after = Register();
  ASSERT_OK(Complete(Lease("w1", 2)[1]));
  EXPECT_THAT(feed_->Ids(), ElementsAre(after, before, after, after));
  EXPECT_THAT(feed_->States(),
              ElementsAre(State::kQueued, State::kDelivered, State::kDelivered, State::kCompleted));
  for (const CommandUpdate& update : feed_->seen) {
    EXPECT_EQ(update.watch_id, 9);
    EXPECT_FALSE(update.last) << "the filter goes on";
  }
}

TEST_F(CommandFilterTest, ReportsCommandsOfAllClients) {
  const std::string first = Register();
  CommandRequest request = Request();
  request.client_id = "other";
  const std::string second = Register(request);
  const auto watching = table_.WatchAll({.clients = ClientScope::All(), .feed = feed_});
  ASSERT_OK(watching);
  EXPECT_THAT(feed_->Ids(), UnorderedElementsAre(first, second));
  feed_->seen.clear();
  request.client_id = "third";
  const std::string third = Register(request);
  EXPECT_THAT(feed_->Ids(), ElementsAre(third));
  table_.Unwatch(*watching);
  Register();
  EXPECT_THAT(feed_->Ids(), ElementsAre(third));
}

TEST_F(CommandFilterTest, FilterOfAllClientsEndsWithDrain) {
  ASSERT_OK(table_.WatchAll({.clients = ClientScope::All(), .feed = feed_}));
  table_.Drain();
  ASSERT_FALSE(feed_->seen.empty());
  EXPECT_TRUE(feed_->seen.back().last);
}

TEST_F(CommandFilterTest, SelectsByStateTargetAndLabel) {
  WatchAll(feed_, {.states = {State::kDelivered, State::kCancelled},
                   .target = "browser",
                   .label = "session-1"});
  Register();
  CommandRequest request = Request();
  request.label = "session-1";
  request.target = "elsewhere";
  Register(request);
  request.target = "browser";
  const std::string id = Register(request);
  EXPECT_THAT(feed_->seen, IsEmpty());
  ASSERT_THAT(Lease(), SizeIs(2));
  EXPECT_THAT(feed_->Ids(), ElementsAre(id));
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(feed_->States(), ElementsAre(State::kDelivered, State::kCancelled));
}

TEST_F(CommandFilterTest, ReportsOnlyEndsOnRequest) {
  const std::string ended = Register();
  ASSERT_OK(Cancel(ended));
  const std::string id = Register();
  WatchAll(feed_, {}, /*only_end=*/true);
  EXPECT_THAT(feed_->Ids(), ElementsAre(ended));
  Lease();
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(feed_->Ids(), ElementsAre(ended, id));
}

TEST_F(CommandFilterTest, ReportsOnlyChangesOnRequest) {
  const std::string id = Register();
  ASSERT_OK(table_.WatchAll({.clients = kClient, .feed = feed_, .only_changes = true}));
  ASSERT_THAT(feed_->seen, SizeIs(1)) << "that it has begun";
  EXPECT_EQ(feed_->seen[0].command, nullptr);
  EXPECT_OK(feed_->seen[0].error);
  EXPECT_FALSE(feed_->seen[0].last);
  feed_->seen.clear();
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(feed_->Ids(), ElementsAre(id));
}

TEST_F(CommandFilterTest, ReportsRemovalsOnRequest) {
  WatchAll(feed_);
  const auto other = std::make_shared<RecordingFeed>();
  ASSERT_OK(table_.WatchAll({.clients = kClient, .feed = other, .removals = true}));
  ASSERT_OK(table_.WatchAll({.clients = ClientScope::All(), .feed = slow_feed_, .removals = true}));
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  Advance(absl::Minutes(1));
  EXPECT_EQ(StateOf(id), State::kExpired);
  feed_->seen.clear();
  other->seen.clear();
  Advance(absl::Minutes(10));
  EXPECT_THAT(feed_->seen, IsEmpty());
  ASSERT_THAT(other->Ids(), ElementsAre(id));
  EXPECT_TRUE(other->seen[0].removed);
  EXPECT_FALSE(other->seen[0].last) << "the filter goes on";
  EXPECT_EQ(other->seen[0].command->state, State::kExpired);
  // The removal replaces all earlier updates.
  const std::vector<CommandUpdate> taken = slow_feed_->Take(10);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_TRUE(taken[0].removed);
}

TEST_F(CommandFilterTest, ReportsCommandsOfItsClientOnly) {
  WatchAll(feed_);
  Register(Request("other"));
  EXPECT_THAT(feed_->seen, IsEmpty());
}

TEST_F(CommandFilterTest, DoesNotCountAsReadingAResult) {
  const std::string id = Register();
  WatchAll(feed_);
  ASSERT_OK(Complete(LeaseOne()));
  Advance(absl::Seconds(60));
  EXPECT_EQ(StateOf(id), State::kExpired);
  EXPECT_THAT(feed_->States(),
              ElementsAre(State::kQueued, State::kDelivered, State::kCompleted, State::kExpired));
}

TEST_F(CommandFilterTest, GetsNoUpdatesAfterRemoval) {
  const auto watching = WatchAll(feed_);
  table_.Unwatch(watching);
  table_.Unwatch(watching);
  Register();
  EXPECT_THAT(feed_->seen, IsEmpty());
}

TEST_F(CommandFilterTest, OutlastsTheCommandsOfItsClient) {
  const std::string id = Register();
  const auto watching = WatchAll(feed_);
  ASSERT_OK(Cancel(id));
  Advance(absl::Minutes(10));
  EXPECT_EQ(table_.commands(), 0);
  // Many clients later.
  for (int i = 0; i < 200; ++i) {
    const auto passing = TryRegister(Request("passing-" + std::to_string(i)));
    ASSERT_OK(passing);
    ASSERT_OK(table_.Cancel("passing-" + std::to_string(i), IdOf(*passing->command), clock_.Now()));
    if (i % 100 == 99) Advance(absl::Minutes(10));
  }
  feed_->seen.clear();
  const std::string next = Register();
  EXPECT_THAT(feed_->Ids(), ElementsAre(next));
}

TEST_F(CommandFilterTest, SlowReaderGetsTheNewestStateOfEachCommand) {
  WatchAll(slow_feed_);
  const std::string one = Register();
  const std::string other = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(slow_feed_->times_ready, 1);
  slow_feed_->Read();
  EXPECT_THAT(slow_feed_->Ids(), ElementsAre(one, other));
  EXPECT_THAT(slow_feed_->States(), ElementsAre(State::kCompleted, State::kQueued));
}

class WideQueueFilterTest : public CommandFilterTest {
 protected:
  WideQueueFilterTest() : CommandFilterTest({.queued_of_client = 50'000, .queued = 50'000}) {}
};

TEST_F(WideQueueFilterTest, EndsWhenItsReaderIsTooSlow) {
  const auto other_feed = std::make_shared<RecordingFeed>();
  WatchAll(slow_feed_);
  WatchAll(other_feed);
  for (size_t i = 0; i < kMaxWaitingUpdates; ++i) Register();
  EXPECT_EQ(slow_feed_->times_ready, 1);
  const std::string one_more = Register();
  Register();
  EXPECT_EQ(other_feed->seen.size(), kMaxWaitingUpdates + 2) << "others go on";

  slow_feed_->Read();
  // The reader must list the commands anyway.
  ASSERT_THAT(slow_feed_->seen, SizeIs(1));
  const CommandUpdate& last = slow_feed_->seen.back();
  EXPECT_THAT(last.error, FailsWith(StatusCode::kResourceExhausted, "too_slow"));
  EXPECT_EQ(last.watch_id, 9);
  EXPECT_TRUE(last.last);
  // The commands can still be listed and watched anew.
  WatchAll(slow_feed_, {.states = {State::kCancelled}});
  ASSERT_OK(Cancel(one_more));
  slow_feed_->Read();
  EXPECT_EQ(slow_feed_->Ids().back(), one_more);
}

class SmallFeedsTest : public CommandFilterTest {
 protected:
  SmallFeedsTest()
      : CommandFilterTest({.queued_of_client = 1000, .queued = 10'000, .feed_bytes = 400'000}) {}

  void AddFrozen() {
    frozen_.push_back(std::make_shared<RecordingFeed>(RecordingFeed::Reader::kSlow));
    EXPECT_OK(table_.WatchAll(
        {.clients = kClient, .feed = frozen_.back(), .watch_id = 9, .only_changes = true}));
  }
  void HandIn(int count, const std::string& client = kClient) {
    for (int i = 0; i < count; ++i) {
      CommandRequest request = Request();
      request.client_id = client;
      Register(std::move(request));
    }
  }

  std::vector<std::shared_ptr<RecordingFeed>> frozen_;  // As long as their streams.
};

TEST_F(SmallFeedsTest, FrozenReadersTakeNoRoomFromActiveReaders) {
  WatchAll(feed_);
  // The frozen feeds may come again any number of times.
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 7; ++i) AddFrozen();
    HandIn(90);
    EXPECT_LT(table_.feed_bytes(), 210'000) << "half of it is left for others";
  }
  EXPECT_EQ(feed_->seen.size(), 900u) << "who reads at once misses nothing";
  HandIn(100, "other");
  ASSERT_OK(table_.WatchAll({.clients = "other", .feed = slow_feed_}));
  slow_feed_->Read();
  EXPECT_EQ(slow_feed_->seen.size(), 100u) << "nor does who only begins";
  frozen_.front()->Read();
  ASSERT_THAT(frozen_.front()->seen, SizeIs(1));
  EXPECT_THAT(frozen_.front()->seen[0].error,
              FailsWith(StatusCode::kResourceExhausted, "too_slow"));
  for (const auto& each : frozen_) each->Read();
  EXPECT_EQ(table_.feed_bytes(), 0);
}

TEST_F(SmallFeedsTest, TooSlowWatchDoesNotAffectOthersOfItsFeed) {
  ASSERT_OK(table_.WatchAll(
      {.clients = kClient, .filter = {.target = "elsewhere"}, .feed = slow_feed_, .watch_id = 1}));
  ASSERT_OK(table_.WatchAll({.clients = kClient, .feed = slow_feed_, .watch_id = 2}));
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  const std::string id = Register(elsewhere);
  HandIn(600);
  ASSERT_OK(Cancel(id));
  slow_feed_->Read();
  ASSERT_THAT(slow_feed_->seen, SizeIs(2));
  EXPECT_EQ(slow_feed_->seen[0].watch_id, 1);
  EXPECT_EQ(slow_feed_->States()[0], State::kCancelled) << "the newest state";
  EXPECT_EQ(slow_feed_->seen[1].watch_id, 2);
  EXPECT_FALSE(slow_feed_->seen[1].error.ok());
  EXPECT_EQ(table_.feed_bytes(), 0);
}

TEST_F(SmallFeedsTest, RefusedListingLeavesNoUpdates) {
  HandIn(900);
  EXPECT_THAT(table_.WatchAll({.clients = kClient, .feed = slow_feed_, .watch_id = 1}),
              FailsWith(StatusCode::kResourceExhausted, "too_slow"));
  EXPECT_EQ(table_.feed_bytes(), 0);
  slow_feed_->Read();
  EXPECT_THAT(slow_feed_->seen, SizeIs(0));
}

TEST_F(SmallFeedsTest, RemovedWatchReleasesItsBytes) {
  Register();
  {
    const auto feed = std::make_shared<RecordingFeed>(RecordingFeed::Reader::kSlow);
    const auto watching = table_.WatchAll({.clients = kClient, .feed = feed});
    ASSERT_OK(watching);
    EXPECT_GT(table_.feed_bytes(), 0);
    table_.Unwatch(*watching);
  }
  EXPECT_EQ(table_.feed_bytes(), 0);
}

class FewFiltersTest : public CommandFilterTest {
 protected:
  FewFiltersTest() : CommandFilterTest({.filters_of_client = 2, .filters_of_others = 3}) {}
};

TEST_F(FewFiltersTest, FiltersAreLimitedPerClient) {
  const auto first = WatchAll(feed_);
  WatchAll(feed_);
  EXPECT_THAT(table_.WatchAll({.clients = kClient, .feed = feed_}),
              FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_OK(table_.WatchAll({.clients = "other", .feed = feed_}));
  table_.Unwatch(first);
  WatchAll(feed_);
  EXPECT_EQ(table_.waits(), 0) << "filters are no waits";
}

TEST_F(FewFiltersTest, FiltersOfOtherWatchersHaveTheirOwnLimit) {
  const auto full = FailsWith(StatusCode::kResourceExhausted, "too_many_waits");
  const auto watch = [this](const ClientScope& clients, const std::string& watcher) {
    return table_.WatchAll({.clients = clients, .feed = feed_, .watcher = watcher}).status();
  };
  for (const ClientScope& clients : {ClientScope(kClient), ClientScope::All()}) {
    ASSERT_OK(watch(clients, "eve@viewer"));
    ASSERT_OK(watch(clients, "eve@viewer"));
    EXPECT_THAT(watch(clients, "eve@viewer"), full);
    ASSERT_OK(watch(clients, "ann@admin"));
    EXPECT_THAT(watch(clients, "ann@admin"), full) << "of all others";
  }
  EXPECT_OK(watch(kClient, "")) << "the client's own find room";
  EXPECT_OK(watch(kClient, ""));
  EXPECT_THAT(watch(kClient, ""), full);
}

// Draining.

TEST_F(CommandFilterTest, DrainEndsFilterAndRefusesNewOnes) {
  Register();
  const auto watching = WatchAll(slow_feed_);
  table_.Drain();
  slow_feed_->Read();
  ASSERT_THAT(slow_feed_->seen, SizeIs(2));
  EXPECT_THAT(slow_feed_->seen.back(), IsWatchOver());
  EXPECT_THAT(table_.WatchAll({.clients = kClient, .feed = feed_}),
              FailsWith(StatusCode::kUnavailable, "draining"));
  EXPECT_THAT(feed_->seen, IsEmpty());
  table_.Unwatch(watching);
}

TEST_F(CommandFilterTest, DoesNotRetainResults) {
  WatchAll(slow_feed_);
  Register();
  const CommandLease lease = LeaseOne();
  Payload result = Bytes("42");
  const std::weak_ptr<const std::string> observed = result;
  ASSERT_OK(Complete(lease, CommandResult{std::move(result)}));
  EXPECT_FALSE(observed.expired());
  Advance(absl::Seconds(60));
  EXPECT_TRUE(observed.expired()) << "nobody has collected it, and the feed still waits";
  slow_feed_->Read();
  EXPECT_THAT(slow_feed_->States(), ElementsAre(State::kExpired));
}

}  // namespace
}  // namespace callslip::tracker
