#include "tracker/domain/session/session_table.h"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tracker/storage/session_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;

const auto kUnknown = FailsWith(absl::StatusCode::kNotFound, "unknown_session");
const auto kEnded = FailsWith(absl::StatusCode::kFailedPrecondition, "session_ended");
const auto kInvalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");

// Life.

TEST_F(SessionTableTest, ANewSessionHasItsStartInTheLog) {
  ASSERT_OK_AND_ASSIGN(const SessionMetadata created,
                       Create(SessionRequest{"s1", "My task", "ann", "claude", "/src"}));
  EXPECT_EQ(created.session_id, "s1");
  EXPECT_EQ(created.name, "My task");
  EXPECT_EQ(created.owner, "ann");
  EXPECT_EQ(created.created_at, clock_.Now());
  EXPECT_EQ(created.state, SessionState::kActive);
  EXPECT_EQ(created.event_count, 1);
  EXPECT_EQ(created.max_seq, 1);
  const std::vector<EventPtr> events = ReadAll();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]->payload, EventPayload(SessionStart{"s1", "claude", "/src"}));
}

TEST_F(SessionTableTest, IdsAreCheckedBeforeTheyTouchAPath) {
  for (const char* id : {"..", "a/b", "a b", ".lock", "é"}) {
    EXPECT_THAT(Create(id), kInvalid) << id;
    EXPECT_THAT(Record(AgentMessage{}, id), kUnknown) << id;
    EXPECT_THAT(Delete(id), kUnknown) << id;
  }
  EXPECT_THAT(Create(std::string(65, 'a')), kInvalid);
  EXPECT_OK(Create(std::string(64, 'a')));
  ASSERT_OK_AND_ASSIGN(const SessionMetadata made, Create(SessionRequest{}));
  EXPECT_THAT(made.session_id, testing::MatchesRegex("20260201-120000-[0-9a-f]{16}"));
}

TEST_F(SessionTableTest, AnIdIsTakenOnce) {
  ASSERT_OK(Create("s1"));
  EXPECT_THAT(Create("s1"), FailsWith(absl::StatusCode::kAlreadyExists, "session_exists"));
  ASSERT_OK(Delete("s1"));
  EXPECT_OK(Create("s1"));
  EXPECT_EQ(ReadAll().size(), 1u);
}

TEST_F(SessionTableTest, ListsTheNewestFirstInPages) {
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_OK(Create(SessionRequest{.session_id = id, .owner = id}));
    clock_.Advance(absl::Seconds(1));
  }
  ASSERT_OK_AND_ASSIGN(const SessionPage first, table_->List({}, 3, ""));
  std::vector<std::string> ids;
  for (const auto& session : first.sessions) ids.push_back(session.session_id);
  EXPECT_THAT(ids, ElementsAre("d", "c", "b"));
  ASSERT_OK(Create("e"));
  ASSERT_OK_AND_ASSIGN(const SessionPage second, table_->List({}, 3, first.next_page_token));
  ASSERT_EQ(second.sessions.size(), 1u);
  EXPECT_EQ(second.sessions[0].session_id, "a");
  EXPECT_EQ(second.next_page_token, "");
  ASSERT_OK_AND_ASSIGN(const SessionPage owned, table_->List({.owner = "b"}, 0, ""));
  EXPECT_EQ(owned.sessions.size(), 1u);
  EXPECT_THAT(table_->List({}, -1, ""), kInvalid);
  EXPECT_THAT(table_->List({}, 0, "x"),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_page_token"));
}

TEST_F(SessionTableTest, EndsResumesArchives) {
  ASSERT_OK(Create("s1"));
  EXPECT_THAT(Run([](Session& s, absl::Time now) { return s.Resume(now); }),
              FailsWith(absl::StatusCode::kFailedPrecondition, "session_not_ended"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("user", now); }));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("again", now); }));
  EXPECT_EQ(ReadAll().back()->payload, EventPayload(SessionEnd{"user", 1}));
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kCompleted);
  EXPECT_THAT(Record(AgentMessage{}), kEnded);
  EXPECT_THAT(Add("x"), kEnded);

  Reopen();
  EXPECT_EQ(table_->Get("s1")->end_reason, "user");
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Resume(now); }));
  ASSERT_OK_AND_ASSIGN(const EventPtr next, Record(AgentMessage{"on"}));
  EXPECT_EQ(next->seq, 3);
  Reopen();
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kActive);

  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(true, now); }));
  EXPECT_EQ(table_->List({}, 0, "")->sessions.size(), 0u);
  EXPECT_EQ(table_->List({.with_archived = true}, 0, "")->sessions.size(), 1u);
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(false, now); }));
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kCompleted);
  EXPECT_FALSE(table_->Get("s1")->archived);
}

TEST_F(SessionTableTest, RenamesAreKept) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Rename("better", now); }));
  EXPECT_THAT(Run([](Session& s, absl::Time now) { return s.Rename(std::string(257, 'x'), now); }),
              kInvalid);
  Reopen();
  EXPECT_EQ(table_->Get("s1")->name, "better");
}

TEST_F(SessionTableTest, DeletingRemovesAllAndTellsWhoFollows) {
  ASSERT_OK(Create("s1"));
  const auto feed = Subscribe(0);
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Delete("s1"));
  EXPECT_THAT(feed->NextOf<FeedEnd>().status, kUnknown);
  EXPECT_THAT(runner->ended.Wait(), kUnknown);
  EXPECT_THAT(Record(AgentMessage{}), kUnknown);
  EXPECT_THAT(Delete("s1"), kUnknown);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/sessions/s1"));
  Reopen();
  EXPECT_EQ(table_->sessions(), 0u);
}

TEST_F(SessionTableTest, MetadataThatAreGoneAreMadeFromTheLog) {
  ASSERT_OK(Create("s1"));
  clock_.Advance(absl::Seconds(7));
  ASSERT_OK(Record(AgentMessage{"x"}));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("user", now); }));
  const SessionMetadata before = *table_->Get("s1");
  Close();
  std::filesystem::remove(PathOf("metadata.json"));
  Reopen();
  EXPECT_EQ(*table_->Get("s1"), before);
  Close();
  std::ofstream(PathOf("metadata.json")) << "{\"session_id\": \"s1\", \"crea";
  Reopen();
  EXPECT_EQ(*table_->Get("s1"), before);
}

TEST_F(SessionTableTest, TwoProcessesNeverShareADirectory) {
  const auto second = FileSessionStorage::Open(folder_.path(), &disk_);
  EXPECT_THAT(second, FailsWith(absl::StatusCode::kFailedPrecondition, "data_dir_locked"));
  Close();
  EXPECT_OK(FileSessionStorage::Open(folder_.path(), &disk_));
}

TEST_F(SessionTableTest, SessionsHaveALimit) {
  limits_.sessions = 2;
  Reopen();
  ASSERT_OK(Create("a"));
  ASSERT_OK(Create("b"));
  EXPECT_THAT(Create("c"), FailsWith(absl::StatusCode::kResourceExhausted, "too_many_sessions"));
  ASSERT_OK(Delete("a"));
  EXPECT_OK(Create("c"));
}

TEST_F(SessionTableTest, IdleSessionsAreUnloadedAndComeBack) {
  limits_.idle_sessions = 2;
  limits_.open_files = 1;
  threads_ = 1;
  Reopen();
  for (int i = 0; i < 10; ++i) ASSERT_OK(Create(absl::StrCat("s", i)));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_OK_AND_ASSIGN(const EventPtr event, Record(AgentMessage{"x"}, absl::StrCat("s", i)));
      EXPECT_EQ(event->seq, round + 2);
    }
  }
  Reopen();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(table_->Get(absl::StrCat("s", i))->event_count, 4);
}

TEST_F(SessionTableTest, RetentionDeletesAndShortens) {
  ASSERT_OK(Create("old"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }, "old"));
  clock_.Advance(absl::Hours(48));
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 20; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  table_->ApplyRetention({.max_events = 10, .keep_ended = absl::Hours(24)}, clock_.Now());
  EXPECT_EQ(ReadAll().size(), 10u);
  EXPECT_EQ(Record(AgentMessage{"y"}).value()->seq, 22);
  EXPECT_THAT(Record(AgentMessage{}, "old"), kUnknown);
}

// The queue and its runner.

TEST_F(SessionTableTest, TheQueueFileIsAsDocumented) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage added, Add("What's the status?"));
  std::ifstream in(PathOf("queue.json"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, absl::StrCat(R"({"messages":[{"id":")", added.id,
                               R"(","message":"What's the status?","image_ids":[],)"
                               R"("queued_at":"2026-02-01T12:00:00Z","client_id":""}],)"
                               R"("updated_at":"2026-02-01T12:00:00Z",)"
                               R"("send_at":"2026-02-01T12:00:00Z"})"
                               "\n"));
}

TEST_F(SessionTableTest, ARunnerGetsEachMessageWhenItIsIdle) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage first, Add("first"));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage second, Add("second"));
  const TestReceiver::Handed one = runner->handed.Take();
  EXPECT_EQ(one.message.id, first.id);
  EXPECT_THAT(Run([&](Session& s, absl::Time) { return s.DeleteMessage(first.id); }),
              FailsWith(absl::StatusCode::kFailedPrecondition, "message_sending"));
  ASSERT_OK(StartTurn(one.turn_id));
  EXPECT_EQ(std::get<UserPrompt>(ReadAll().back()->payload).queue_id, first.id);
  EXPECT_EQ(Snapshot().turn->id, one.turn_id);
  EXPECT_EQ(runner->handed.size(), 0u);
  ASSERT_OK(FinishTurn(one.turn_id));
  const TestReceiver::Handed two = runner->handed.Take();
  EXPECT_EQ(two.message.id, second.id);
  EXPECT_THAT(FinishTurn("turn-x"), FailsWith(absl::StatusCode::kFailedPrecondition, "stale_turn"));
  EXPECT_OK(FinishTurn(one.turn_id));
  ASSERT_OK(StartTurn(two.turn_id));
  ASSERT_OK(FinishTurn(two.turn_id));
  EXPECT_TRUE(Messages().empty());
}

TEST_F(SessionTableTest, AFailedTurnIsRecordedAndPausesTheQueue) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  ASSERT_OK(Add("second"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  ASSERT_OK(FinishTurn(turn, {TurnEnd::kFailed, "rate_limited", "try later"}));
  EXPECT_EQ(ReadAll().back()->payload, EventPayload(ErrorEvent{"try later", "rate_limited"}));
  Reopen();
  const auto next = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(next));
  EXPECT_EQ(Snapshot().queue.pause->reason, "rate_limited");
  EXPECT_EQ(next->handed.size(), 0u);
  ASSERT_OK(With<QueuedMessage>([](Session& s, absl::Time now) { return s.RetryMessage(now); }));
  EXPECT_EQ(next->handed.Take().message.message, "first");
}

TEST_F(SessionTableTest, ATurnOutlivesItsRunnersConnectionAndATrackersRestart) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  ASSERT_OK(Add("second"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  Reopen();
  EXPECT_TRUE(absl::IsUnavailable(runner->ended.Wait()));
  const auto back = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(back, turn));
  EXPECT_EQ(Snapshot().turn->id, turn);
  ASSERT_OK(FinishTurn(turn));
  EXPECT_EQ(back->handed.Take().message.message, "second");
}

TEST_F(SessionTableTest, ARunnerThatComesBackWithoutItsTurnHasLostIt) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  const auto other = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(other));
  EXPECT_THAT(runner->ended.Wait(), FailsWith(absl::StatusCode::kAborted, "receiver_replaced"));
  EXPECT_EQ(Snapshot().queue.pause->reason, "runner_lost");
  EXPECT_EQ(std::get<ErrorEvent>(ReadAll().back()->payload).code, "runner_lost");
  EXPECT_OK(FinishTurn(turn));  // Harmless by now.
  EXPECT_EQ(Snapshot().queue.pause->reason, "runner_lost");
}

TEST_F(SessionTableTest, AMessageThatWasNotBegunGoesToTheNextRunner) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(Run([&](Session& s, absl::Time) {
    s.Detach(runner.get());
    return absl::OkStatus();
  }));
  EXPECT_THAT(StartTurn(turn), FailsWith(absl::StatusCode::kFailedPrecondition, "stale_turn"));
  Reopen();
  const auto next = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(next));
  EXPECT_EQ(next->handed.Take().message.message, "first");
}

TEST_F(SessionTableTest, StoppingAsksTheRunnerAndPausesTheQueue) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  ASSERT_OK(Add("second"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.StopTurn(now); }));
  EXPECT_EQ(runner->stopped.Take(), turn);
  EXPECT_EQ(Snapshot().queue.pause->reason, "stopped");
  ASSERT_OK(FinishTurn(turn, {.end = TurnEnd::kCancelled}));
  EXPECT_EQ(runner->handed.size(), 0u);
  ASSERT_OK(Run([](Session& s, absl::Time) { return s.ResumeQueue(); }));
  EXPECT_EQ(runner->handed.Take().message.message, "second");
  // Of what was handed over and not begun.
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.StopTurn(now); }));
  EXPECT_EQ(Messages().size(), 1u);
  EXPECT_FALSE(Messages()[0].sending());
}

TEST_F(SessionTableTest, TheDelaySurvivesARestart) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(
      Run([](Session& s, absl::Time) { return s.ConfigureQueue({.delay = absl::Seconds(10)}); }));
  ASSERT_OK(Add("first"));
  clock_.Advance(absl::Seconds(6));
  Reopen();
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  EXPECT_EQ(Snapshot().queue.send_at, clock_.Now() + absl::Seconds(4));
  EXPECT_EQ(runner->handed.size(), 0u);
  clock_.Advance(absl::Seconds(4));
  EXPECT_EQ(runner->handed.Take().message.message, "first");
}

TEST_F(SessionTableTest, TheSamePromptHasOneTurn) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK_AND_ASSIGN(const QueuedMessage first, Add("first", "prompt-1"));
  EXPECT_EQ(Add("first", "prompt-1")->id, first.id);
  ASSERT_OK(Attach(runner));
  ASSERT_OK(StartTurn(runner->handed.Take().turn_id));
  const auto duplicate = FailsWith(absl::StatusCode::kAlreadyExists, "duplicate_prompt");
  EXPECT_THAT(Add("first", "prompt-1"), duplicate);
  Reopen();
  EXPECT_THAT(Add("first", "prompt-1"), duplicate);
}

TEST_F(SessionTableTest, SendNowNeedsARunnerThatIsIdle) {
  ASSERT_OK(Create("s1"));
  const auto send = [&] {
    return With<QueuedMessage>(
        [](Session& s, absl::Time now) { return s.SendNow({.message = "now"}, now); });
  };
  EXPECT_THAT(send(), FailsWith(absl::StatusCode::kFailedPrecondition, "no_runner"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(send());
  EXPECT_EQ(runner->handed.Take().message.message, "now");
  EXPECT_THAT(send(), FailsWith(absl::StatusCode::kFailedPrecondition, "turn_in_progress"));
}

TEST_F(SessionTableTest, ADamagedQueueIsPutAsideAndSaysSo) {
  ASSERT_OK(Create("s1"));
  Close();
  std::ofstream(PathOf("queue.json")) << "{\"mess";
  Reopen();
  EXPECT_EQ(Snapshot().queue.pause->reason, "queue_damaged");
  EXPECT_TRUE(std::filesystem::exists(PathOf("queue.json.damaged")));
}

// Watching.

TEST_F(SessionTableTest, AFeedBeginsWithASnapshotEvenOfAnEmptySession) {
  ASSERT_OK(Create("s1"));
  const auto feed = Subscribe(1);
  const SessionUpdate first = feed->Next();
  EXPECT_EQ(first.max_seq, 1);
  EXPECT_EQ(std::get<SessionSnapshot>(first.what).metadata.session_id, "s1");
  ASSERT_OK(Record(AgentMessage{"live"}));
  EXPECT_EQ(feed->NextOf<EventPtr>()->seq, 2);
}

TEST_F(SessionTableTest, FeedsGetEveryEventOnceFromAnySeqOn) {
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
    table_->Unsubscribe("s1", feed);
  }
}

TEST_F(SessionTableTest, LiveEqualsPersistedWhileOthersAppend) {
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
      table_->Unsubscribe("s1", feed);
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (std::thread& reader : readers) reader.join();
}

TEST_F(SessionTableTest, ASlowObserverIsCutOffAndDelaysNobody) {
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

TEST_F(SessionTableTest, ObserversHaveALimit) {
  limits_.observers_of_session = 1;
  Reopen();
  ASSERT_OK(Create("s1"));
  const auto first = Subscribe(0);
  const auto second = Subscribe(0);
  EXPECT_THAT(second->NextOf<FeedEnd>().status,
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_observers"));
  table_->Unsubscribe("s1", first);
  const auto third = Subscribe(0);
  third->NextOf<SessionSnapshot>();
  EXPECT_THAT(Subscribe(0, "unknown")->NextOf<FeedEnd>().status, kUnknown);
}

TEST_F(SessionTableTest, ObserversHearOfTheQueueAndOfTurns) {
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

TEST_F(SessionTableTest, PlaysAtTheRecordedPaceAndAtOthers) {
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(absl::Seconds(4));
    ASSERT_OK(Record(AgentMessage{absl::StrCat(i)}));
  }
  const auto play = [&](const PlayRequest& request) {
    auto feed = std::make_shared<TestFeed>();
    table_->Play("s1", request, feed);
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
  const auto beyond = std::make_shared<TestFeed>();
  table_->Play("s1", {.position = 5}, beyond);
  EXPECT_THAT(beyond->NextOf<FeedEnd>().status, kInvalid);
}

TEST_F(SessionTableTest, APlaybackWaitsForItsReader) {
  limits_.observer_updates = 8;
  Reopen();
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 100; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  const auto feed = std::make_shared<TestFeed>();
  table_->Play("s1", {.speed = 0}, feed);
  for (int64_t seq = 1; seq <= 101; ++seq) EXPECT_EQ(feed->NextOf<EventPtr>()->seq, seq);
  EXPECT_OK(feed->NextOf<FeedEnd>().status);
}

// Permissions.

class SessionPermissionsTest : public SessionTableTest {
 protected:
  using Answer = Awaited<absl::StatusOr<PermissionAnswer>>;

  absl::StatusOr<PermissionRequest> Ask(const std::string& id, Answer& answer) {
    return With<PermissionRequest>([&](Session& s, absl::Time now) {
      return s.AskPermission(
          {.id = id,
           .title = "write a.txt?",
           .options = {{"yes", "Allow", "allow_once"}, {"no", "Reject", ""}}},
          [&](absl::StatusOr<PermissionAnswer> a) { answer.Set(a); }, now);
    });
  }
  absl::Status Give(const std::string& id, const std::string& option,
                    const std::string& client = "tab-1") {
    return Run([&](Session& s, absl::Time now) {
      return s.AnswerPermission({id, option, client}, now);
    });
  }
};

TEST_F(SessionPermissionsTest, TheFirstAnswerHolds) {
  ASSERT_OK(Create("s1"));
  Answer answer;
  ASSERT_OK_AND_ASSIGN(const PermissionRequest asked, Ask("", answer));
  EXPECT_THAT(asked.id, testing::MatchesRegex("perm-[0-9a-f]{16}"));
  EXPECT_THAT(Give(asked.id, "maybe"), kInvalid);
  EXPECT_OK(Give(asked.id, "yes", "tab-1"));
  EXPECT_THAT(Give(asked.id, "no", "tab-2"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "permission_answered"));
  EXPECT_EQ(answer.Wait().value(), (PermissionAnswer{asked.id, "yes", "tab-1"}));
  EXPECT_EQ(ReadAll().back()->payload,
            EventPayload(PermissionRecord{"write a.txt?", "yes", "selected"}));
  EXPECT_THAT(Give("perm-x", "yes"), FailsWith(absl::StatusCode::kNotFound, "unknown_permission"));
}

TEST_F(SessionPermissionsTest, AnOpenRequestSurvivesDisconnects) {
  ASSERT_OK(Create("s1"));
  Answer first;
  ASSERT_OK(Ask("perm-1", first));
  const auto feed = Subscribe(0);
  EXPECT_EQ(feed->NextOf<SessionSnapshot>().permissions.at(0).id, "perm-1");
  table_->Unsubscribe("s1", feed);
  // The asker comes back too, and asks under the same id.
  Answer second;
  ASSERT_OK(Ask("perm-1", second));
  EXPECT_EQ(Snapshot().permissions.size(), 1u);
  ASSERT_OK(Give("perm-1", "no"));
  EXPECT_EQ(first.Wait()->option_id, "no");
  EXPECT_EQ(second.Wait()->option_id, "no");
  Answer third;
  ASSERT_OK(Ask("perm-1", third));
  EXPECT_EQ(third.Wait()->option_id, "no");
}

TEST_F(SessionPermissionsTest, CancelAndTheEndOfATurnResolveAll) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("go"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  Answer one;
  Answer two;
  ASSERT_OK(Ask("perm-1", one));
  ASSERT_OK(Ask("perm-2", two));
  ASSERT_OK_AND_ASSIGN(const size_t cancelled, With<size_t>([](Session& s, absl::Time now) {
                         return s.CancelPermissions(now);
                       }));
  EXPECT_EQ(cancelled, 2u);
  EXPECT_TRUE(one.Wait()->cancelled());
  EXPECT_TRUE(two.Wait()->cancelled());
  Answer three;
  ASSERT_OK(Ask("perm-3", three));
  ASSERT_OK(FinishTurn(turn));
  EXPECT_TRUE(three.Wait()->cancelled());
  EXPECT_EQ(ReadAll().back()->payload,
            EventPayload(PermissionRecord{"write a.txt?", "", "cancelled"}));
}

TEST_F(SessionPermissionsTest, WhoWaitsIsToldWhereTheSessionGoes) {
  ASSERT_OK(Create("s1"));
  Answer answer;
  ASSERT_OK(Ask("perm-1", answer));
  ASSERT_OK(Delete("s1"));
  EXPECT_THAT(answer.Wait(), kUnknown);
}

TEST_F(SessionPermissionsTest, OpenRequestsHaveALimit) {
  ASSERT_OK(Create("s1"));
  Answer ignored;
  for (size_t i = 0; i < kMaxOpenPermissions; ++i) {
    ASSERT_OK(Ask(absl::StrCat("perm-", i), ignored));
  }
  EXPECT_THAT(Ask("perm-more", ignored),
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_permissions"));
  Close();  // Who asked is told.
}

}  // namespace
}  // namespace callslip::tracker
