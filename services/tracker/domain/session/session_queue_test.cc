// The queue of a session and its runner.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/storage/failing_disk.h"

namespace callslip::tracker {
namespace {

std::vector<std::string> FailedCalls(const std::vector<EventPtr>& events) {
  std::vector<std::string> ids;
  for (const EventPtr& event : events) {
    const bool has_failed =
        event->type == "tool_call_update" && MemberOf(event, "status") == "failed";
    if (has_failed) ids.push_back(MemberOf(event, "tool_call_id"));
  }
  return ids;
}

TEST_F(SessionTableTest, QueueFileHasDocumentedFormat) {
  CALLSLIP_ABOUT_FILES();
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

TEST_F(SessionTableTest, RunnerGetsEachMessageWhenIdle) {
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
  EXPECT_EQ(MemberOf(ReadAll().back(), "queue_id"), first.id);
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

TEST_F(SessionTableTest, FailedTurnIsRecordedAndPausesQueue) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  ASSERT_OK(Add("second"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  ASSERT_OK(FinishTurn(turn, {TurnEnd::kFailed, "rate_limited", "try later"}));
  const std::vector<EventPtr> events = ReadAll();
  EXPECT_EQ(TextOf(events.at(2)), R"(error {"message":"try later","code":"rate_limited"})");
  EXPECT_EQ(events.at(3)->type, "turn_end");
  EXPECT_EQ(events.size(), 4u);
  Reopen();
  const auto next = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(next));
  EXPECT_EQ(Snapshot().queue.pause->reason, "rate_limited");
  EXPECT_EQ(next->handed.size(), 0u);
  ASSERT_OK(With<QueuedMessage>([](Session& s, absl::Time now) { return s.RetryMessage(now); }));
  EXPECT_EQ(next->handed.Take().message.message, "first");
}

TEST_F(SessionTableTest, TurnSurvivesRunnerDisconnectAndTrackerRestart) {
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

TEST_F(SessionTableTest, UnstoredMessageStartsNoTurn) {
  CALLSLIP_ABOUT_FILES();
  FailingDisk disk;
  Reopen(&disk);
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  disk.Fail(0, 100);
  EXPECT_TRUE(absl::IsUnavailable(Add("first").status()));
  // The runner has received the message meanwhile.
  const std::string turn = runner->handed.Take().turn_id;
  disk.Fail(0, 0);
  EXPECT_THAT(StartTurn(turn), FailsWith(absl::StatusCode::kFailedPrecondition, "stale_turn"));
  EXPECT_TRUE(Messages().empty());
  EXPECT_EQ(ReadAll().size(), 1u);
}

// A turn has begun once its prompt is in the log.
TEST_F(SessionTableTest, TurnStartsWithOneSync) {
  CALLSLIP_ABOUT_FILES();
  FailingDisk disk;
  Reopen(&disk);
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  const std::string turn = runner->handed.Take().turn_id;
  disk.Fail(2, 100);  // After a write and a sync.
  ASSERT_OK(StartTurn(turn));
  EXPECT_TRUE(absl::IsUnavailable(runner->ended.Wait()));
  EXPECT_GT(disk.failures(), 0);
  Reopen();
  const auto back = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(back, turn));
  EXPECT_EQ(Snapshot().turn->id, turn);
  EXPECT_TRUE(Messages().empty());
  EXPECT_OK(FinishTurn(turn));
  EXPECT_EQ(back->handed.size(), 0u);
}

TEST_F(SessionTableTest, TurnFailsWhenRunnerReturnsWithoutIt) {
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
  EXPECT_EQ(MemberOf(ReadAll().at(2), "code"), "runner_lost");
  EXPECT_EQ(TextOf(ReadAll().back()),
            R"(turn_end {"turn_id":")" + turn + R"(","outcome":"failed","reason":"runner_lost"})");
  EXPECT_OK(FinishTurn(turn));  // Without effect by now.
  EXPECT_EQ(Snapshot().queue.pause->reason, "runner_lost");
}

TEST_F(SessionTableTest, ShellCommandsFailWhenTheirRunnerIsLost) {
  ASSERT_OK(Create("s1"));
  const auto of_runner = [](Session& session, absl::Time now) {
    return session.SetAgentState({.status = AgentStatus::kIdle, .runner_id = "r"}, now);
  };
  ASSERT_OK(Run(of_runner));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  ASSERT_OK(StartTurn(runner->handed.Take().turn_id));
  const std::string of_agent = "cmd-99999999999999-0";  // Not an id of the tracker.
  for (const std::string& id : {std::string("cmd-0-0"), std::string("cmd-1-0"),
                                std::string("cmd-1-1"), std::string("cmd-1-2"), of_agent}) {
    ASSERT_OK(Record(ToolCall{.tool_call_id = id, .title = "make", .status = "queued"}));
  }
  ASSERT_OK(Record(ToolCallUpdate{
      .tool_call_id = "cmd-1-0", .status = "completed", .title = std::string(1000, 'x')}));
  ASSERT_OK(Record(ToolCallUpdate{.tool_call_id = "cmd-1-1", .status = "running"}));
  Reopen();
  ASSERT_OK(Attach(std::make_shared<TestReceiver>()));
  EXPECT_THAT(FailedCalls(ReadAll()),
              testing::ElementsAre("cmd-0-0", "cmd-1-1", "cmd-1-2", of_agent));
}

TEST_F(SessionTableTest, OpenToolCallsFailWhenTurnFailsOrIsCancelled) {
  const auto of_runner = [](Session& session, absl::Time now) {
    return session.SetAgentState({.status = AgentStatus::kIdle, .runner_id = "r"}, now);
  };
  for (const bool restarts : {false, true}) {
    for (const TurnEnd end : {TurnEnd::kFailed, TurnEnd::kCancelled, TurnEnd::kCompleted}) {
      ASSERT_OK(Create("s1"));
      ASSERT_OK(Run(of_runner));
      auto runner = std::make_shared<TestReceiver>();
      ASSERT_OK(Attach(runner));
      ASSERT_OK(Add("first"));
      const std::string turn = runner->handed.Take().turn_id;
      ASSERT_OK(StartTurn(turn));
      for (const char* call : {"open", "told", "failed", "again", "started"}) {
        ASSERT_OK(Record(ToolCall{.tool_call_id = call, .title = "t", .status = "pending"}));
      }
      for (const auto& [call, status] :
           {std::pair("told", "completed"), std::pair("failed", "failed"),
            std::pair("again", "completed"), std::pair("started", "in_progress"),
            std::pair("unheard", "in_progress")}) {
        ASSERT_OK(Record(ToolCallUpdate{.tool_call_id = call, .status = status}));
      }
      ASSERT_OK(Record(ToolCall{.tool_call_id = "again", .title = "t", .status = ""}));
      if (restarts) {
        Reopen();
        ASSERT_OK(Attach(runner, turn));
      }
      ASSERT_OK(FinishTurn(turn, {.end = end}));
      // After a completed turn, the agent itself reports how its calls have ended.
      const std::vector<std::string> of_completed = {"failed"};
      const std::vector<std::string> of_others = {"failed", "open", "started", "again"};
      EXPECT_EQ(FailedCalls(ReadAll()), end == TurnEnd::kCompleted ? of_completed : of_others);
      ASSERT_OK(Delete("s1"));
    }
  }
}

// Commands that came by AddAgentText continue without the adapter and are followed to their end.
TEST_F(SessionTableTest, ShellCommandsContinueWhenTheirAdapterIsLost) {
  ASSERT_OK(Create("s1"));
  const auto adapter = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(adapter));
  ASSERT_OK(Add("first"));
  ASSERT_OK(StartTurn(adapter->handed.Take().turn_id));
  ASSERT_OK(Record(ToolCall{.tool_call_id = "cmd-0-0", .title = "make", .status = "queued"}));
  ASSERT_OK(Attach(std::make_shared<TestReceiver>()));
  EXPECT_EQ(Snapshot().queue.pause->reason, "runner_lost");
  for (const EventPtr& event : ReadAll()) EXPECT_NE(event->type, "tool_call_update");
}

TEST_F(SessionTableTest, UnstartedMessageGoesToNextRunner) {
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

TEST_F(SessionTableTest, StopTurnNotifiesRunnerAndPausesQueue) {
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
  // A message was sent, but its turn has not begun.
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.StopTurn(now); }));
  EXPECT_EQ(Messages().size(), 1u);
  EXPECT_FALSE(Messages()[0].sending());
}

TEST_F(SessionTableTest, ReturningRunnerIsNotifiedThatItsTurnWasStopped) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("first"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  Run([&](Session& s, absl::Time) {
    s.Detach(runner.get());
    return absl::OkStatus();
  }).IgnoreError();
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.StopTurn(now); }));
  EXPECT_EQ(runner->stopped.size(), 0u);
  const auto back = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(back, turn));
  EXPECT_EQ(back->stopped.Take(), turn);

  // Also over a restart of the tracker.
  Reopen();
  const auto again = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(again, turn));
  EXPECT_EQ(again->stopped.Take(), turn);
}

TEST_F(SessionTableTest, QueueDelaySurvivesRestart) {
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

TEST_F(SessionTableTest, QueueDelaySurvivesBackwardClockChange) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(
      Run([](Session& s, absl::Time) { return s.ConfigureQueue({.delay = absl::Seconds(3)}); }));
  // The clock was a day ahead when the message came.
  clock_.Advance(absl::Hours(24));
  ASSERT_OK(Add("first"));
  clock_.Advance(-absl::Hours(24));
  Reopen();
  EXPECT_EQ(Snapshot().queue.send_at, clock_.Now() + absl::Seconds(3));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(runner->handed.Take().message.message, "first");
}

TEST_F(SessionTableTest, SamePromptStartsOneTurn) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK_AND_ASSIGN(const QueuedMessage first, Add("first", "prompt-1"));
  EXPECT_EQ(Add("first", "prompt-1")->id, first.id);
  ASSERT_OK(Attach(runner));
  ASSERT_OK(StartTurn(runner->handed.Take().turn_id));
  const auto duplicate = FailsWith(absl::StatusCode::kAlreadyExists, "duplicate_prompt");
  const auto reused = FailsWith(absl::StatusCode::kAlreadyExists, "prompt_id_reused");
  EXPECT_THAT(Add("first", "prompt-1"), duplicate);
  EXPECT_THAT(Add("second", "prompt-1"), reused);
  Reopen();
  EXPECT_THAT(Add("first", "prompt-1"), duplicate);
  EXPECT_THAT(Add("second", "prompt-1"), reused);
}

TEST_F(SessionTableTest, SendNowNeedsIdleRunner) {
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

TEST_F(SessionTableTest, DamagedQueueFileIsSetAsideAndPausesQueue) {
  CALLSLIP_ABOUT_FILES();
  ASSERT_OK(Create("s1"));
  Close();
  std::ofstream(PathOf("queue.json")) << "{\"mess";
  Reopen();
  EXPECT_EQ(Snapshot().queue.pause->reason, "queue_damaged");
  EXPECT_TRUE(std::filesystem::exists(PathOf("queue.json.damaged")));
}

}  // namespace
}  // namespace callslip::tracker
