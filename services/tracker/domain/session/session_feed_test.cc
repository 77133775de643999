// Observers and players of a session.
#include "tracker/domain/session/session_feed.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

TEST_F(SessionTableTest, FeedStartsWithSnapshotEvenWithoutNewEvents) {
  ASSERT_OK(Create("s1"));
  const auto feed = Subscribe(1);
  const SessionUpdate first = feed->Next();
  EXPECT_EQ(first.max_seq, 1);
  EXPECT_EQ(std::get<SessionSnapshot>(first.what).metadata.session_id, "s1");
  ASSERT_OK(Record(AgentMessage{"live"}));
  EXPECT_EQ(feed->NextOf<EventPtr>()->seq, 2);
}

TEST_F(SessionTableTest, FeedsGetEveryEventOnceFromAnySeq) {
  limits_.observer_bytes = 4000;
  Reopen();
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 300; ++i) ASSERT_OK(Record(AgentMessage{absl::StrCat("text ", i)}));
  for (const int64_t after : {0, 1, 150, 300, 301, 999}) {
    const std::vector<EventPtr> all = ReadAll();
    const auto feed = Subscribe(after);
    for (const EventPtr& event : all) {
      if (event->seq <= after) continue;
      ASSERT_EQ(*feed->NextOf<EventPtr>(), *event);
    }
    ASSERT_OK_AND_ASSIGN(const EventPtr live, Record(AgentMessage{"live"}));
    EXPECT_EQ(feed->NextOf<EventPtr>()->seq, live->seq) << after;
    Unsubscribe(feed);
  }
}

TEST_F(SessionTableTest, FeedsGetAllEventsInOrderDuringConcurrentAppends) {
  ASSERT_OK(Create("s1"));
  constexpr int kEach = 200;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) EXPECT_OK(Record(AgentMessage{absl::StrCat(i)}));
    });
  }
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      const auto feed = Subscribe(0);
      for (int64_t seq = 1; seq <= 3 * kEach + 1; ++seq) {
        ASSERT_EQ(feed->NextOf<EventPtr>()->seq, seq);
      }
      Unsubscribe(feed);
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (std::thread& reader : readers) reader.join();
}

TEST_F(SessionTableTest, SlowObserverIsDisconnectedWithoutDelayingOthers) {
  limits_.observer_updates = 10;
  Reopen();
  ASSERT_OK(Create("s1"));
  const auto slow = Subscribe(0);
  const auto fast = Subscribe(1);
  for (int i = 0; i < 30; ++i) {
    ASSERT_OK(Record(AgentMessage{"x"}));
    EXPECT_EQ(fast->NextOf<EventPtr>()->seq, i + 2);
  }
  int64_t last = 0;
  while (true) {
    const SessionUpdate update = slow->Next();
    if (const auto* end = std::get_if<FeedEnd>(&update.what)) {
      EXPECT_THAT(end->status, FailsWith(absl::StatusCode::kResourceExhausted, "too_slow"));
      break;
    }
    if (const auto* event = std::get_if<EventPtr>(&update.what)) {
      EXPECT_EQ((*event)->seq, last + 1);
      last = (*event)->seq;
    }
  }
  const auto again = Subscribe(last);
  for (int64_t seq = last + 1; seq <= 31; ++seq) {
    EXPECT_EQ(again->NextOf<EventPtr>()->seq, seq);
  }
}

TEST_F(SessionTableTest, ObserversPerSessionAreLimited) {
  limits_.observers_of_session = 1;
  Reopen();
  ASSERT_OK(Create("s1"));
  const auto first = Subscribe(0);
  const auto second = Subscribe(0);
  EXPECT_THAT(second->NextOf<FeedEnd>().status,
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_observers"));
  Unsubscribe(first);
  const auto third = Subscribe(0);
  third->NextOf<SessionSnapshot>();
  EXPECT_THAT(Subscribe(0, "unknown")->NextOf<FeedEnd>().status, kUnknown);
}

TEST_F(SessionTableTest, ObserversGetQueueAndTurnChanges) {
  ASSERT_OK(Create("s1"));
  const auto feed = Subscribe(1);
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage added, Add("first"));
  QueueChange change = feed->NextOf<QueueChange>();
  EXPECT_EQ(change.action, QueueAction::kAdded);
  EXPECT_EQ(change.message_id, added.id);
  EXPECT_EQ(change.queue_length, 1u);
  EXPECT_EQ(feed->NextOf<QueueChange>().action, QueueAction::kSending);
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  EXPECT_EQ(feed->NextOf<EventPtr>()->seq, 2);
  change = feed->NextOf<QueueChange>();
  EXPECT_EQ(change.action, QueueAction::kRemoved);
  EXPECT_EQ(change.queue_length, 0u);
  EXPECT_EQ(feed->NextOf<QueueChange>().action, QueueAction::kSent);
  EXPECT_FALSE(feed->NextOf<TurnChange>().outcome.has_value());
  ASSERT_OK(FinishTurn(turn));
  EXPECT_EQ(feed->NextOf<TurnChange>().outcome->end, TurnEnd::kCompleted);
}

TEST_F(SessionTableTest, PlaybackScalesRecordedPaceBySpeed) {
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(absl::Seconds(4));
    ASSERT_OK(Record(AgentMessage{absl::StrCat(i)}));
  }
  const auto play = [&](const PlayRequest& request) {
    auto feed = Play(request);
    EXPECT_TRUE(std::holds_alternative<SessionSnapshot>(feed->Next().what));
    return feed;
  };
  const auto paced = play({.speed = 2});
  for (int64_t seq = 1; seq < 4; ++seq) {
    EXPECT_EQ(paced->NextOf<EventPtr>()->seq, seq);
    clock_.Advance(absl::Milliseconds(1999));
    ASSERT_OK(Run([](Session&, absl::Time) { return absl::OkStatus(); }));
    EXPECT_TRUE(paced->Take(1, 1).empty());
    clock_.Advance(absl::Milliseconds(1));
  }
  EXPECT_EQ(paced->NextOf<EventPtr>()->seq, 4);
  EXPECT_OK(paced->NextOf<FeedEnd>().status);

  const auto at_once = play({.position = 2, .speed = 0});
  EXPECT_EQ(at_once->NextOf<EventPtr>()->seq, 3);
  EXPECT_EQ(at_once->NextOf<EventPtr>()->seq, 4);
  EXPECT_OK(at_once->NextOf<FeedEnd>().status);
  const auto beyond = Play({.position = 5});
  EXPECT_THAT(beyond->NextOf<FeedEnd>().status, kInvalid);
}

TEST_F(SessionTableTest, PlaybackWaitsForItsReader) {
  limits_.observer_updates = 8;
  Reopen();
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 100; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  const auto feed = Play({.speed = 0});
  for (int64_t seq = 1; seq <= 101; ++seq) EXPECT_EQ(feed->NextOf<EventPtr>()->seq, seq);
  EXPECT_OK(feed->NextOf<FeedEnd>().status);
}

}  // namespace
}  // namespace callslip::tracker
