// QueueService over the real listener, with gRPC's own client.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class TrackerQueueTest : public SessionServerTest {
 protected:
  TrackerQueueTest() { CreateSession(); }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> OfSession(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                  const Request&, Response*),
                                     const std::string& rest = "") {
    return Call(method, "session_id: 's' " + rest);
  }

  std::string Add(const std::string& message) {
    return OfSession(&Q::AddMessage, "message: '" + message + "'")->message_id();
  }
  static std::string Message(const std::string& id) { return "message_id: '" + id + "' "; }
  static std::string Turn(const std::string& id) { return "turn_id: '" + id + "' "; }

  std::vector<std::string> Messages() {
    std::vector<std::string> messages;
    const auto list = OfSession(&Q::ListMessages);
    for (const v1::QueuedMessage& message : list->messages()) {
      messages.push_back(message.message());
    }
    return messages;
  }
  v1::QueueStatus Status() { return *OfSession(&Q::GetQueueStatus); }

  // Begins the turn of the next message of `runner`. Returns its id.
  std::string StartNext(StreamReader<v1::ReceivedMessage>& runner) {
    const std::string turn_id = runner.Next()->turn_id();
    EXPECT_OK(OfSession(&Q::StartTurn, Turn(turn_id)));
    return turn_id;
  }
};

constexpr StatusCode kPrecondition = StatusCode::kFailedPrecondition;

TEST_F(TrackerQueueTest, MessagesAreAddedEditedMovedAndRemoved) {
  EXPECT_THAT(OfSession(&Q::AddMessage), FailsWith(StatusCode::kInvalidArgument, "empty_message"));
  EXPECT_THAT(OfSession(&Q::PopMessage), FailsWith(kPrecondition, "queue_empty"));
  ASSERT_OK_AND_ASSIGN(
      const v1::QueuedMessage added,
      OfSession(&Q::AddMessage, "message: 'a' image_ids: 'i' prompt_id: 'p' source_id: 'tab'"));
  EXPECT_EQ(added.client_id(), "tab");
  EXPECT_EQ(added.prompt_id(), "p");
  EXPECT_THAT(added.image_ids(), ElementsAre("i"));
  EXPECT_EQ(OfSession(&Q::AddMessage, "message: 'a' image_ids: 'i' prompt_id: 'p'")->message_id(),
            added.message_id());
  EXPECT_THAT(OfSession(&Q::AddMessage, "message: 'b' image_ids: 'i' prompt_id: 'p'"),
              FailsWith(StatusCode::kAlreadyExists, "prompt_id_reused"));
  const std::string b = Add("b");
  const std::string c = Add("c");
  EXPECT_THAT(Messages(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(OfSession(&Q::MoveMessage, Message(c) + "position: 0")->messages(), SizeIs(3));
  EXPECT_THAT(Messages(), ElementsAre("c", "a", "b"));
  EXPECT_EQ(OfSession(&Q::EditMessage, Message(b) + "message: 'B'")->message(), "B");
  EXPECT_EQ(OfSession(&Q::GetMessage, Message(b))->message(), "B");
  EXPECT_EQ(OfSession(&Q::PopMessage)->message(), "c");
  EXPECT_OK(OfSession(&Q::DeleteMessage, Message(b)));
  const auto unknown = FailsWith(StatusCode::kNotFound, "unknown_message");
  EXPECT_THAT(OfSession(&Q::DeleteMessage, Message(b)), unknown);
  EXPECT_THAT(OfSession(&Q::GetMessage, Message(b)), unknown);
  EXPECT_THAT(OfSession(&Q::EditMessage, Message(b) + "message: 'x'"), unknown);
  EXPECT_THAT(OfSession(&Q::MoveMessage, Message(b)), unknown);
  EXPECT_EQ(OfSession(&Q::ClearMessages)->deleted(), 1);
  EXPECT_THAT(Messages(), SizeIs(0));
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(OfSession(&Q::AddMessage, "message: 'x'"), FailsWith(kPrecondition, "session_ended"));
}

TEST_F(TrackerQueueTest, TurnsFollowEachOther) {
  Add("a");
  Add("b");
  const auto runner = Receive("session_id: 's'");
  const auto first = runner->Next();
  EXPECT_EQ(first->message().message(), "a");
  EXPECT_EQ(Status().turn_id(), first->turn_id());
  EXPECT_TRUE(Status().has_receiver());
  EXPECT_THAT(OfSession(&Q::DeleteMessage, Message(first->message().message_id())),
              FailsWith(kPrecondition, "message_sending"));
  EXPECT_THAT(OfSession(&Q::StartTurn, "turn_id: 'turn-0'"),
              FailsWith(kPrecondition, "stale_turn"));
  ASSERT_OK_AND_ASSIGN(const auto started, OfSession(&Q::StartTurn, Turn(first->turn_id())));
  EXPECT_EQ(started.seq(), 2);
  Append({"an answer"});
  EXPECT_EQ(OfSession(&Q::StartTurn, Turn(first->turn_id()))->seq(), 2);
  EXPECT_THAT(Messages(), ElementsAre("b"));
  const auto events = Call(&S::ReadEvents, "session_id: 's' type: 'user_prompt'");
  EXPECT_EQ(MemberOf(events->events(0), "queue_id"), first->message().message_id());
  EXPECT_THAT(OfSession(&Q::FinishTurn, Turn(first->turn_id())),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const std::string finish = Turn(first->turn_id()) + "outcome: OUTCOME_COMPLETED";
  EXPECT_EQ(OfSession(&Q::FinishTurn, finish)->turn_id(), "");
  EXPECT_OK(OfSession(&Q::FinishTurn, finish));
  EXPECT_EQ(runner->Next()->message().message(), "b");
}

TEST_F(TrackerQueueTest, FailedTurnPausesTheQueueUntilRetryOrSkip) {
  Add("a");
  Add("b");
  const auto runner = Receive("session_id: 's'");
  const std::string turn_id = StartNext(*runner);
  const std::string failed = "outcome: OUTCOME_FAILED reason: 'rate_limited' message: 'later'";
  ASSERT_OK_AND_ASSIGN(const v1::QueueStatus paused,
                       OfSession(&Q::FinishTurn, Turn(turn_id) + failed));
  EXPECT_EQ(paused.pause_reason(), "rate_limited");
  EXPECT_EQ(paused.pause_message(), "later");
  EXPECT_TRUE(paused.has_pause_time());

  ASSERT_OK(OfSession(&Q::ResumeQueue, "how: HOW_RETRY"));
  const auto again = runner->Next();
  EXPECT_EQ(again->message().message(), "a");
  EXPECT_NE(again->turn_id(), turn_id);
  ASSERT_OK(OfSession(&Q::StartTurn, Turn(again->turn_id())));
  ASSERT_OK(OfSession(&Q::FinishTurn, Turn(again->turn_id()) + failed));
  ASSERT_OK(OfSession(&Q::ResumeQueue, "how: HOW_SKIP"));
  EXPECT_EQ(runner->Next()->message().message(), "b");
  for (const char* how : {"HOW_RESUME", "HOW_RETRY", "HOW_SKIP"}) {
    EXPECT_THAT(OfSession(&Q::ResumeQueue, absl::StrCat("how: ", how)),
                FailsWith(kPrecondition, "queue_not_paused"));
  }
}

TEST_F(TrackerQueueTest, RunnerStartsATurnOfItsOwn) {
  EXPECT_THAT(OfSession(&Q::StartTurn, "prompt { message: 'mine' }"),
              FailsWith(kPrecondition, "no_runner"));
  ASSERT_OK(OfSession(&Q::ConfigureQueue, "settings { enabled: false }"));
  Add("waits");
  const auto runner = Receive("session_id: 's'");
  while (!Status().has_receiver()) {
  }
  const std::string prompt = "prompt { message: 'mine' prompt_id: 'p' image_ids: 'i' }";
  ASSERT_OK_AND_ASSIGN(const auto started, OfSession(&Q::StartTurn, prompt));
  EXPECT_EQ(started.seq(), 2);
  EXPECT_EQ(Status().turn_id(), started.turn_id());
  EXPECT_THAT(Messages(), ElementsAre("waits"));
  EXPECT_THAT(OfSession(&Q::StartTurn, prompt),
              FailsWith(StatusCode::kAlreadyExists, "duplicate_prompt"));
  EXPECT_THAT(OfSession(&Q::StartTurn, "prompt { message: 'another' }"),
              FailsWith(kPrecondition, "turn_in_progress"));
  ASSERT_OK(OfSession(&Q::FinishTurn, Turn(started.turn_id()) + "outcome: OUTCOME_COMPLETED"));
  ASSERT_OK(OfSession(&Q::ConfigureQueue));
  // The runner did not receive the turn that it had begun by itself.
  EXPECT_EQ(runner->Next()->message().message(), "waits");
}

TEST_F(TrackerQueueTest, MessageWithNowOvertakesWaitingMessages) {
  ASSERT_OK(OfSession(&Q::PauseQueue));
  Add("waits");
  EXPECT_THAT(OfSession(&Q::AddMessage, "message: 'urgent' now: true"),
              FailsWith(kPrecondition, "no_runner"));
  const auto runner = Receive("session_id: 's'");
  while (!Status().has_receiver()) {
  }
  ASSERT_OK(OfSession(&Q::AddMessage, "message: 'urgent' now: true"));
  EXPECT_EQ(runner->Next()->message().message(), "urgent");
}

TEST_F(TrackerQueueTest, RunnerIsAskedToStopItsTurn) {
  Add("a");
  Add("b");
  const auto runner = Receive("session_id: 's'");
  const std::string turn_id = StartNext(*runner);
  EXPECT_EQ(OfSession(&Q::StopTurn)->pause_reason(), "stopped");
  const auto stop = runner->Next();
  EXPECT_TRUE(stop->stop());
  EXPECT_EQ(stop->turn_id(), turn_id);
  EXPECT_FALSE(stop->has_message());
  EXPECT_OK(OfSession(&Q::FinishTurn, Turn(turn_id) + "outcome: OUTCOME_CANCELLED"));
}

TEST_F(TrackerQueueTest, SecondRunnerReplacesTheFirst) {
  const auto first = Receive("session_id: 's'");
  while (!Status().has_receiver()) {
  }
  const auto second = Receive("session_id: 's'");
  EXPECT_THAT(first->Finish(), FailsWith(StatusCode::kAborted, "receiver_replaced"));
  Add("a");
  EXPECT_EQ(second->Next()->message().message(), "a");
}

TEST_F(TrackerQueueTest, MessageReturnsToTheQueueWhenItsRunnerLeaves) {
  Add("a");
  auto runner = Receive("session_id: 's'");
  const auto handed = runner->Next();
  runner = nullptr;
  while (Status().has_receiver()) {
  }
  EXPECT_EQ(Status().turn_id(), "");
  runner = Receive("session_id: 's'");
  const auto again = runner->Next();
  EXPECT_EQ(again->message().message_id(), handed->message().message_id());
  EXPECT_NE(again->turn_id(), handed->turn_id());
}

TEST_F(TrackerQueueTest, RunnerThatReconnectsKeepsItsTurn) {
  Add("a");
  auto runner = Receive("session_id: 's'");
  const std::string turn_id = StartNext(*runner);
  runner = Receive("session_id: 's' " + Turn(turn_id));
  ASSERT_OK(OfSession(&Q::StopTurn));
  EXPECT_TRUE(runner->Next()->stop());
  EXPECT_EQ(Status().turn_id(), turn_id);
  // A runner that does not know its turn has lost it.
  runner = Receive("session_id: 's'");
  while (Status().pause_reason() != "runner_lost") {
  }
  EXPECT_EQ(Status().turn_id(), "");
}

TEST_F(TrackerQueueTest, DelayIsASettingOfTheSession) {
  ASSERT_OK_AND_ASSIGN(const v1::QueueStatus set,
                       OfSession(&Q::ConfigureQueue, "settings { delay { seconds: 5 } }"));
  EXPECT_EQ(set.delay().seconds(), 5);
  EXPECT_TRUE(set.enabled());
  EXPECT_FALSE(set.settings().has_enabled());
  EXPECT_THAT(OfSession(&Q::ConfigureQueue, "settings { delay { seconds: 86401 } }"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const auto runner = Receive("session_id: 's'");
  Add("a");
  while (!Status().has_send_time()) {
  }
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(runner->Next()->message().message(), "a");
}

TEST_F(TrackerQueueTest, ReceiverIsNotifiedThatTheTrackerStops) {
  const auto runner = Receive("session_id: 's'");
  while (!Status().has_receiver()) {
  }
  server_->Drain(absl::ZeroDuration());
  EXPECT_THAT(runner->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
  server_ = nullptr;
}

TEST_F(TrackerQueueTest, QueueSurvivesARestartOfTheTracker) {
  Add("a");
  ASSERT_OK(OfSession(&Q::PauseQueue, "reason: 'lunch'"));
  Stop(absl::ZeroDuration());
  Start();
  EXPECT_THAT(Messages(), ElementsAre("a"));
  EXPECT_EQ(Status().pause_reason(), "lunch");
}

}  // namespace
}  // namespace callslip::tracker
