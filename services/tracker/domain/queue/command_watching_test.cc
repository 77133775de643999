#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

class CommandWatchingTest : public CommandTableTest {
 protected:
  using CommandTableTest::CommandTableTest;

  static std::shared_ptr<RecordingFeed> NewFeed() { return std::make_shared<RecordingFeed>(); }
  static std::shared_ptr<RecordingFeed> NewSlowFeed() {
    return std::make_shared<RecordingFeed>(RecordingFeed::Reader::kSlow);
  }
};

TEST_F(CommandWatchingTest, FeedSeesEachStateAndTheEnd) {
  const std::string id = Register();
  const auto feed = NewFeed();
  Watch(id, feed, {.until = clock_.Now() + absl::Seconds(55), .watch_id = 7});
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  ASSERT_OK(Complete(lease));
  EXPECT_THAT(feed->States(),
              ElementsAre(State::kQueued, State::kDelivered, State::kRunning, State::kCompleted));
  for (size_t i = 0; i < feed->seen.size(); ++i) {
    EXPECT_EQ(feed->seen[i].watch_id, 7);
    EXPECT_EQ(feed->seen[i].last, i == 3);
    EXPECT_EQ(feed->seen[i].command->revision, static_cast<int64_t>(i + 1));
  }
  EXPECT_EQ(*feed->seen.back().command->result, "42");
  EXPECT_EQ(table_.waits(), 0);
  Advance(absl::Seconds(55));
  EXPECT_THAT(feed->seen, SizeIs(4));
}

TEST_F(CommandWatchingTest, WatchResumesAfterARevision) {
  const std::string id = Register();
  const auto feed = NewFeed();
  Watch(id, feed, {.after_revision = Peek(id).revision});
  EXPECT_THAT(feed->seen, IsEmpty());
  Lease();
  EXPECT_THAT(feed->States(), ElementsAre(State::kDelivered));

  const auto behind = NewFeed();
  Watch(id, behind, {.after_revision = 1});
  EXPECT_THAT(behind->States(), ElementsAre(State::kDelivered));
}

TEST_F(CommandWatchingTest, WatchOfEndedCommandAnswersAtOnceAndCountsAsRead) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  const auto feed = NewFeed();
  const auto watching = Watch(id, feed, {.after_revision = Peek(id).revision});
  EXPECT_EQ(watching.command, nullptr);
  EXPECT_THAT(feed->States(), ElementsAre(State::kCompleted));
  EXPECT_TRUE(feed->seen[0].last);
  EXPECT_EQ(table_.waits(), 0);
  Advance(absl::Seconds(60));
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "command_removed"));
}

TEST_F(CommandWatchingTest, EndReportedToFeedCountsAsRead) {
  const std::string id = Register();
  Watch(id, NewFeed(), {.only_end = true});
  ASSERT_OK(Complete(LeaseOne()));
  Advance(absl::Seconds(60));
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "command_removed"));
}

TEST_F(CommandWatchingTest, OnlyEndIsReportedOnRequest) {
  const std::string id = Register();
  const auto feed = NewFeed();
  Watch(id, feed, {.only_end = true});
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  EXPECT_THAT(feed->seen, IsEmpty());
  ASSERT_OK(Complete(lease));
  EXPECT_THAT(feed->States(), ElementsAre(State::kCompleted));
}

TEST_F(CommandWatchingTest, WatchEndsOnTime) {
  const std::string id = Register();
  const auto feed = NewFeed();
  const auto watching =
      Watch(id, feed, {.after_revision = 1, .until = clock_.Now() + absl::Seconds(8)});
  Advance(absl::Seconds(8) - kTick);
  EXPECT_THAT(feed->seen, IsEmpty());
  EXPECT_EQ(table_.waits(), 1);
  Advance(kTick);
  EXPECT_THAT(feed->seen, ElementsAre(IsWatchOver()));
  EXPECT_EQ(table_.waits(), 0);
  Lease();
  table_.Unwatch(watching);
  EXPECT_THAT(feed->seen, SizeIs(1));
}

TEST_F(CommandWatchingTest, CommandEndingWithWatchIsReportedOnce) {
  const std::string id = Register();
  const auto feed = NewFeed();
  Watch(id, feed, {.after_revision = 1, .until = clock_.Now() + absl::Seconds(30)});
  Advance(absl::Seconds(30));
  ASSERT_THAT(feed->seen, SizeIs(1));
  EXPECT_TRUE(feed->seen[0].last);
}

TEST_F(CommandWatchingTest, CompletionWakesOnlyItsOwnFeeds) {
  std::vector<std::string> ids;
  std::vector<std::shared_ptr<RecordingFeed>> feeds;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Register());
    for (int k = 0; k < 2; ++k) {
      feeds.push_back(NewFeed());
      Watch(ids[i], feeds.back(), {.only_end = true});
    }
  }
  ASSERT_OK(Complete(Lease()[2]));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(feeds[i]->times_ready, i / 2 == 2 ? 1 : 0) << "feed " << i;
  }
  EXPECT_THAT(feeds[4]->Ids(), ElementsAre(ids[2]));
  EXPECT_THAT(feeds[5]->Ids(), ElementsAre(ids[2]));
}

TEST_F(CommandWatchingTest, NewerStateReplacesUnreadState) {
  const std::string one = Register();
  const std::string other = Register();
  const auto feed = NewSlowFeed();
  Watch(one, feed, {.watch_id = 1});
  Watch(other, feed, {.watch_id = 2});
  for (const CommandLease& lease : Lease()) {
    ASSERT_OK(Acknowledge(lease));
    ASSERT_OK(Complete(lease));
  }
  EXPECT_EQ(feed->times_ready, 1);
  feed->Read();
  EXPECT_THAT(feed->Ids(), ElementsAre(one, other));
  EXPECT_THAT(feed->States(), ElementsAre(State::kCompleted, State::kCompleted));
  EXPECT_TRUE(feed->seen[0].last);
  EXPECT_TRUE(feed->seen[1].last);
}

TEST_F(CommandWatchingTest, ReaderIsNotifiedAgainAfterTakingEverything) {
  std::vector<std::string> ids;
  const auto feed = NewSlowFeed();
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Register());
    Watch(ids.back(), feed, {.watch_id = i});
  }
  EXPECT_EQ(feed->times_ready, 1);
  EXPECT_THAT(feed->Take(3), SizeIs(3));
  const CommandLeases leases = Lease();
  EXPECT_EQ(feed->times_ready, 1);
  // Two that were waiting with their newer state, then the three that were taken before.
  feed->Read();
  EXPECT_THAT(feed->Ids(), ElementsAre(ids[3], ids[4], ids[0], ids[1], ids[2]));
  EXPECT_THAT(feed->States(), testing::Each(State::kDelivered));
  ASSERT_OK(Complete(leases[0]));
  EXPECT_EQ(feed->times_ready, 2);
}

TEST_F(CommandWatchingTest, WatchesOfSameCommandInOneFeedAreSeparate) {
  const std::string id = Register();
  const auto feed = NewSlowFeed();
  Watch(id, feed, {.watch_id = 1});
  Watch(id, feed, {.watch_id = 2, .only_end = true});
  ASSERT_OK(Cancel(id));
  feed->Read();
  ASSERT_THAT(feed->seen, SizeIs(2));
  EXPECT_EQ(feed->seen[0].watch_id, 1);
  EXPECT_EQ(feed->seen[1].watch_id, 2);
}

TEST_F(CommandWatchingTest, RemovedWatchGetsNoUpdates) {
  const std::string id = Register();
  const auto feed = NewFeed();
  const auto watching =
      Watch(id, feed, {.after_revision = 1, .until = clock_.Now() + absl::Seconds(8)});
  table_.Unwatch(watching);
  table_.Unwatch(watching);
  table_.Unwatch({});
  EXPECT_EQ(table_.waits(), 0);
  Lease();
  Advance(absl::Seconds(9));
  EXPECT_THAT(feed->seen, IsEmpty());
}

TEST_F(CommandWatchingTest, WatchHoldsItsFeedUntilItEnds) {
  const std::string id = Register();
  auto feed = NewFeed();
  const std::weak_ptr<RecordingFeed> held = feed;
  Watch(id, feed);
  feed.reset();
  EXPECT_FALSE(held.expired());
  ASSERT_OK(Cancel(id));
  EXPECT_TRUE(held.expired());
}

TEST_F(CommandWatchingTest, FailureIsLastUpdateOfItsWatch) {
  const auto feed = NewFeed();
  feed->Fail(3, absl::NotFoundError("gone"));
  ASSERT_THAT(feed->seen, SizeIs(1));
  EXPECT_EQ(feed->seen[0].watch_id, 3);
  EXPECT_EQ(feed->seen[0].error.code(), StatusCode::kNotFound);
  EXPECT_TRUE(feed->seen[0].last);
}

// A reader that is frozen, or has vanished: the updates that wait for it count for no client.
TEST_F(CommandWatchingTest, FrozenReaderRetainsNoPayloads) {
  constexpr int kCommands = 100;
  const std::string megabyte(size_t{1} << 20, 'x');
  const auto frozen = NewSlowFeed();
  std::vector<std::string> ids;
  std::vector<std::weak_ptr<const std::string>> payloads;
  for (int i = 0; i < kCommands; ++i) {
    CommandRequest request = Request();
    request.params = Bytes(megabyte);
    payloads.push_back(request.params);
    const std::string id = Register(std::move(request));
    ids.push_back(id);
    Watch(id, frozen, {.watch_id = i});
    const Payload result = Bytes(megabyte);
    payloads.push_back(result);
    ASSERT_OK(Complete(LeaseOne(), CommandResult{result}));
    // Another caller has collected it.
    ASSERT_OK(Get(id));
    Advance(CommandDeadlines().result_retention);
  }
  EXPECT_EQ(table_.payload_bytes(), 0);
  EXPECT_EQ(table_.waits(), 0);
  const auto held = absl::c_count_if(payloads, [](const auto& each) { return !each.expired(); });
  EXPECT_EQ(held, 0);

  frozen->Read();
  ASSERT_THAT(frozen->seen, SizeIs(kCommands));
  EXPECT_EQ(frozen->seen.back().watch_id, kCommands - 1);
  EXPECT_TRUE(frozen->seen.back().last);
  EXPECT_THAT(frozen->seen.back().error, FailsWith(StatusCode::kNotFound, "command_removed"));
}

TEST_F(CommandWatchingTest, LateReaderGetsResultExpiredError) {
  const std::string id = Register();
  const auto slow = NewSlowFeed();
  Watch(id, slow);
  ASSERT_OK(Complete(LeaseOne()));
  Advance(CommandDeadlines().result_retention);
  slow->Read();
  ASSERT_THAT(slow->States(), ElementsAre(State::kExpired));
  EXPECT_EQ(slow->seen[0].command->error->code, "result_expired");
  EXPECT_TRUE(slow->seen[0].last);
}

// A state that has passed is replaced by a later state or by the end of the watch.
TEST_F(CommandWatchingTest, UnreadStateIsNotReportedAfterWatchEnds) {
  const std::string id = Register();
  const auto slow = NewSlowFeed();
  Watch(id, slow, {.until = clock_.Now() + absl::Seconds(1)});
  Advance(absl::Seconds(1));
  Lease();
  slow->Read();
  EXPECT_THAT(slow->seen, ElementsAre(IsWatchOver()));
}

TEST_F(CommandWatchingTest, FilterOfFrozenReaderRetainsNoPayloads) {
  const auto frozen = NewSlowFeed();
  ASSERT_OK(table_.WatchAll({.clients = kClient, .feed = frozen}));
  CommandRequest request = Request();
  request.params = Bytes(std::string(size_t{1} << 20, 'x'));
  const std::weak_ptr<const std::string> params = request.params;
  const std::string id = Register(std::move(request));
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(id));
  Advance(CommandDeadlines().result_retention);
  EXPECT_TRUE(params.expired());
  frozen->Read();
  EXPECT_THAT(frozen->Ids(), ElementsAre(id));
}

// The updates contain contexts and error messages, which count for no client while they wait.
TEST_F(CommandWatchingTest, FilterEndsWhenTooManyBytesWaitForReader) {
  const auto frozen = NewSlowFeed();
  ASSERT_OK(table_.WatchAll({.clients = kClient, .feed = frozen, .only_end = true}));
  const std::string message(kMaxErrorMessageBytes, 'm');
  const size_t enough = kMaxWaitingBytes / kMaxErrorMessageBytes + 1;
  for (size_t i = 0; i < enough; ++i) {
    Register();
    ASSERT_OK(Complete(LeaseOne(), CommandFailure{{.code = "no_tab", .message = message}}));
  }
  frozen->Read();
  EXPECT_LT(frozen->seen.size(), enough);
  EXPECT_THAT(frozen->seen.back().error, FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(CommandWatchingTest, ReaderCanCallTableWhenNotified) {
  class CancellingFeed : public CommandFeed {
   public:
    CancellingFeed(CommandTable* table, absl::Time now) : table_(table), now_(now) {}
    void OnReady() override {
      for (const CommandUpdate& update : Take(1)) {
        last = update.last;
        if (!update.last) {
          EXPECT_OK(table_->Cancel(kClient, IdOf(*update.command), now_));
        }
      }
    }
    bool last = false;

   private:
    CommandTable* const table_;
    const absl::Time now_;
  };
  const std::string id = Register();
  const auto feed = std::make_shared<CancellingFeed>(&table_, clock_.Now());
  Watch(id, feed);
  EXPECT_EQ(StateOf(id), State::kCancelled);
  EXPECT_TRUE(feed->last);
}

class FewWaitsTest : public CommandWatchingTest {
 protected:
  FewWaitsTest() : CommandWatchingTest({.waits = 3, .waits_of_client = 2}) {}
};

TEST_F(FewWaitsTest, WaitsAreLimitedPerClientAndInTotal) {
  const std::string id = Register();
  const auto others = TryRegister(Request("other"));
  ASSERT_OK(others);
  const std::string other = IdOf(*others->command);
  const auto first = Watch(id, NewFeed());
  Watch(id, NewFeed());
  const auto refused = table_.Watch(id, {.clients = kClient, .feed = NewFeed()});
  EXPECT_THAT(refused, FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("of this client"));
  EXPECT_GT(DetailsOf(refused.status()).retry_after, absl::ZeroDuration());

  Watch(other, NewFeed(), {.clients = "other"});
  const auto all = table_.Watch(other, {.clients = "other", .feed = NewFeed()});
  EXPECT_THAT(all, FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_THAT(std::string(all.status().message()), testing::HasSubstr("of all clients"));
  EXPECT_EQ(table_.waits(), 3);

  table_.Unwatch(first);
  Watch(id, NewFeed());
  // Both limits have room again after an end.
  ASSERT_OK(Cancel(id));
  EXPECT_EQ(table_.waits(), 1);
}

TEST_F(FewWaitsTest, EndedCommandIsReportedWithoutWait) {
  const std::string ended = Register();
  ASSERT_OK(Cancel(ended));
  const std::string id = Register();
  Watch(id, NewFeed());
  Watch(id, NewFeed());
  const auto feed = NewFeed();
  Watch(ended, feed);
  EXPECT_THAT(feed->States(), ElementsAre(State::kCancelled));
}

TEST_F(FewWaitsTest, HeldCallsCountAsWaits) {
  const auto hold = [&] {
    return table_.Lease({.hold_until = absl::InfiniteFuture()}, clock_.Now(), [](WorkerNews) {});
  };
  for (int i = 0; i < 3; ++i) ASSERT_OK(hold());
  EXPECT_THAT(hold(), FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_THAT(Lease(), IsEmpty()) << "a call that is not held is no wait";
}

}  // namespace
}  // namespace callslip::tracker
