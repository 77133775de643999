// RunnerService over the real listener, with gRPC's own client.
#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracker/domain/runner/runner_limits.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Serving = std::unique_ptr<StreamReader<v1::Assignment>>;

class RunnerServiceTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;

  static std::string Offer(const std::string& id, const std::string& more = "") {
    return absl::StrCat("runner_id: '", id, "' version: '1' max_agents: 2 ",
                        "agents { name: 'claude' title: 'Claude' } ",
                        "workspaces { name: 'web' dir: '/web' } ", more);
  }
  // Begins to serve, and reads `started`.
  Serving Begin(const std::string& id, const std::string& more = "") {
    Serving serving = Serve(Offer(id, more));
    runner_of_[serving.get()] = id;
    const auto first = serving->Next();
    EXPECT_TRUE(first.has_value() && first->has_started());
    EXPECT_FALSE(first->has_session());
    return serving;
  }
  // Expects that this session needs its agent next. Skips other sessions, which may be reported
  // twice.
  void ExpectNeeded(const Serving& serving, const std::string& session) {
    auto next = serving->Next();
    while (next.has_value() && next->has_needed() && next->session().session_id() != session) {
      next = serving->Next();
    }
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->has_needed()) << next->DebugString();
    EXPECT_EQ(next->session().session_id(), session);
    EXPECT_NE(next->lease(), 0);
    lease_[runner_of_[serving.get()]] = next->lease();
  }
  // Names the session and the last lease of this runner; a lease that does not exist if it has
  // none.
  std::string By(const std::string& runner) {
    const auto found = lease_.find(runner);
    return absl::StrCat("session_id: 's' lease: ", found == lease_.end() ? 7 : found->second, " ");
  }
  static void ExpectReleased(const Serving& serving, const std::string& session,
                             const std::string& reason) {
    const auto next = serving->Next();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->session().session_id(), session);
    EXPECT_EQ(next->released().reason(), reason) << next->DebugString();
  }

  void Make(const std::string& id) {
    ASSERT_OK(Call(&S::CreateSession,
                   "session_id: '" + id + "' acp_server: 'claude' working_dir: '/web/app'"));
  }
  void Enqueue(const std::string& id) {
    ASSERT_OK(Call(&Q::AddMessage, "session_id: '" + id + "' message: 'Go on.'"));
  }
  absl::Status SetState(const std::string& session, const std::string& runner,
                        const std::string& more = "status: AGENT_STATUS_IDLE") {
    EXPECT_EQ(session, "s");
    return Call(&R::SetAgentState, By(runner) + more).status();
  }
  // Blocks until the tracker knows that the runner's call has ended.
  void AwaitGone(const std::string& id) {
    for (bool is_there = true; is_there;) {
      const auto list = Call(&R::ListRunners, "");
      ASSERT_OK(list);
      is_there = false;
      for (const v1::Runner& runner : list->runners()) {
        if (runner.runner_id() == id) is_there = runner.connected();
      }
    }
  }
  std::future<absl::StatusOr<v1::AgentState>> Control(const std::string& what) {
    return std::async(std::launch::async, [this, what] {
      return Call(&R::ControlAgent, "session_id: 's' control { " + what + " }");
    });
  }
  // Answers the next assignment, which is a control, with `how`.
  v1::AgentControl Answer(const Serving& serving, const std::string& how = "") {
    const auto next = serving->Next();
    EXPECT_TRUE(next.has_value() && next->has_control());
    lease_[runner_of_[serving.get()]] = next->lease();
    EXPECT_OK(Call(&R::AnswerControl,
                   absl::StrCat("session_id: 's' lease: ", next->lease(), " control_id: '",
                                next->control().control_id(), "' ", how)));
    return next->control();
  }

  std::map<const void*, std::string> runner_of_;
  std::map<std::string, int64_t> lease_;
};

TEST_F(RunnerServiceTest, RunnerGetsSessionsThatNeedAnAgentNowAndLater) {
  Make("1");
  Enqueue("1");
  const Serving serving = Begin("r");
  ExpectNeeded(serving, "1");
  Make("2");
  Enqueue("2");
  ExpectNeeded(serving, "2");
}

TEST_F(RunnerServiceTest, SessionIsAssignedAgainWhenItsReceiverLeaves) {
  Make("s");
  const Serving serving = Begin("r");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  auto receiver = Receive(By("r"));
  const auto message = receiver->Next();
  ASSERT_TRUE(message.has_value());
  receiver = nullptr;
  ExpectNeeded(serving, "s");
}

TEST_F(RunnerServiceTest, RunnerGetsNoSessionThatItCannotRun) {
  const Serving serving = Begin("r");
  ASSERT_OK(
      Call(&S::CreateSession, "session_id: 'other' acp_server: 'claude' working_dir: '/web-evil'"));
  Enqueue("other");
  Make("mine");
  Enqueue("mine");
  ExpectNeeded(serving, "mine");
}

TEST_F(RunnerServiceTest, RunnerSetsTheStateOfItsOwnSessionsOnly) {
  Make("s");
  EXPECT_THAT(SetState("s", "r"), FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  const Serving serving = Begin("r");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  EXPECT_THAT(SetState("s", "other"), FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  EXPECT_THAT(SetState("s", "r", ""), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_OK(SetState("s", "r", "status: AGENT_STATUS_IDLE agent_session_id: 'a' details: '{}'"));
  const auto session = Call(&S::GetSession, "session_id: 's'");
  ASSERT_OK(session);
  EXPECT_EQ(session->agent().status(), v1::AGENT_STATUS_IDLE);
  EXPECT_EQ(session->agent().runner_id(), "r");
  EXPECT_EQ(session->agent().agent_session_id(), "a");
  const auto runners = Call(&R::ListRunners, "");
  ASSERT_THAT(runners->runners(), SizeIs(1));
  EXPECT_EQ(runners->runners(0).running_agents(), 1);
  EXPECT_EQ(runners->runners(0).agents(0).title(), "Claude");
}

TEST_F(RunnerServiceTest, SecondCallReplacesTheFirst) {
  const Serving first = Begin("r");
  const Serving second = Begin("r");
  EXPECT_THAT(first->Finish(), FailsWith(StatusCode::kAborted, "runner_replaced"));
  Make("s");
  Enqueue("s");
  ExpectNeeded(second, "s");
}

TEST_F(RunnerServiceTest, InvalidOfferIsRefused) {
  EXPECT_THAT(Serve("max_agents: 1")->Finish(),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(RunnerServiceTest, RunnerIsNotifiedOfSessionsThatItNoLongerHas) {
  for (const char* id : {"ended", "deleted", "later"}) Make(id);
  ASSERT_OK(Call(&S::EndSession, "session_id: 'ended'"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 'deleted'"));
  const auto held = [](const std::string& id, int64_t lease) {
    return absl::StrCat("held { session_id: '", id, "' lease: ", lease, " } ");
  };
  const Serving serving = Begin("r", held("ended", 1) + held("deleted", 2) + held("later", 3));
  ExpectReleased(serving, "ended", "session_ended");
  ExpectReleased(serving, "deleted", "session_deleted");
  // It was never assigned that session.
  ExpectReleased(serving, "later", "runner_replaced");
  Enqueue("later");
  ExpectNeeded(serving, "later");
  const Serving other = Begin("other", held("later", lease_["r"]));
  ExpectReleased(other, "later", "runner_replaced");
  ASSERT_OK(Call(&S::EndSession, "session_id: 'later'"));
  ExpectReleased(serving, "later", "session_ended");
}

TEST_F(RunnerServiceTest, AnotherRunnerTakesOverTheSessionOfALostRunner) {
  Make("s");
  Serving lost = Begin("a");
  Enqueue("s");
  ExpectNeeded(lost, "s");
  const Serving other = Begin("b");
  auto receiver = Receive(By("a"));
  const auto message = receiver->Next();
  ASSERT_TRUE(message.has_value());
  ASSERT_OK(Call(&Q::StartTurn, By("a") + "turn_id: '" + message->turn_id() + "'"));
  EXPECT_OK(SetState("s", "a"));
  receiver = nullptr;
  ExpectNeeded(lost, "s");
  lost = nullptr;
  AwaitGone("a");
  clock_.Advance(kRunnerLease);
  ExpectNeeded(other, "s");
  const auto status = Call(&Q::GetQueueStatus, "session_id: 's'");
  ASSERT_OK(status);
  EXPECT_EQ(status->turn_id(), "");
  EXPECT_EQ(status->pause_reason(), "runner_lost");
  EXPECT_THAT(SetState("s", "a"), FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  EXPECT_OK(SetState("s", "b"));
}

TEST_F(RunnerServiceTest, TitleBecomesTheNameOfAnUnnamedSession) {
  Make("s");
  const Serving serving = Begin("r");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  const auto name = [&] { return Call(&S::GetSession, "session_id: 's'")->name(); };
  const std::string long_title(257, 'x');
  EXPECT_THAT(SetState("s", "r", "status: AGENT_STATUS_IDLE title: '" + long_title + "'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_OK(SetState("s", "r", "status: AGENT_STATUS_IDLE title: 'Mend the login'"));
  EXPECT_EQ(name(), "Mend the login");
  EXPECT_OK(SetState("s", "r", "status: AGENT_STATUS_IDLE title: 'Another'"));
  EXPECT_EQ(name(), "Mend the login");
}

class ForgetfulRunnerServiceTest : public RunnerServiceTest {
 protected:
  static SessionLimits ReadAnewEachTime() {
    SessionLimits limits;
    limits.idle_sessions = 0;
    return limits;
  }
  ForgetfulRunnerServiceTest() : RunnerServiceTest(ReadAnewEachTime()) {}
};

TEST_F(ForgetfulRunnerServiceTest, TemporarilyUnreadableSessionIsAssignedLater) {
  Make("s");
  Enqueue("s");
  Make("another");
  disk_.Fail(0, std::numeric_limits<int64_t>::max() / 2);
  const Serving serving = Begin("r");
  while (disk_.failures() == 0) std::this_thread::yield();
  disk_.Fail(0, 0);
  auto given = std::async(std::launch::async, [&] { ExpectNeeded(serving, "s"); });
  while (given.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    clock_.Advance(absl::Milliseconds(100));
  }
}

TEST_F(RunnerServiceTest, TurnOfALostRunnerEndsWithoutAnotherRunner) {
  Make("s");
  auto watch = Watch("session_id: 's'");
  Serving lost = Begin("a");
  Enqueue("s");
  ExpectNeeded(lost, "s");
  const auto receiver = Receive(By("a"));
  const auto message = receiver->Next();
  ASSERT_OK(Call(&Q::StartTurn, By("a") + "turn_id: '" + message->turn_id() + "'"));
  EXPECT_OK(SetState("s", "a"));
  lost = nullptr;
  AwaitGone("a");
  clock_.Advance(kRunnerLease);
  // Its receiver of messages ends, too.
  EXPECT_THAT(receiver->Finish(), FailsWith(StatusCode::kAborted, "receiver_replaced"));
  const auto session = Call(&S::GetSession, "session_id: 's'");
  EXPECT_EQ(session->agent().status(), v1::AGENT_STATUS_UNSPECIFIED);
  EXPECT_EQ(session->agent().runner_id(), "");
  EXPECT_EQ(session->turn_id(), "");
}

TEST_F(RunnerServiceTest, RunnerKeepsItsSessionsWhenTheTrackerRestarts) {
  Make("s");
  Serving serving = Begin("a");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  EXPECT_OK(SetState("s", "a"));
  auto token = Call(&R::IssueSessionToken, By("a"));
  ASSERT_OK(token);
  Stop(absl::ZeroDuration());
  EXPECT_THAT(serving->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
  serving = nullptr;
  Start();
  const Serving other = Begin("b");
  // Before the runner reports its lease, the tracker knows none that is valid.
  EXPECT_THAT(SetState("s", "a"), FailsWith(StatusCode::kUnavailable, "runner_away"));
  const int64_t lease = lease_["a"];
  serving = Begin("a", absl::StrCat("held { session_id: 's' lease: ", lease, " }"));
  ExpectNeeded(serving, "s");
  EXPECT_EQ(lease_["a"], lease);
  EXPECT_OK(SetState("s", "a"));
  const auto found = Call(&R::FindSessionTokens, "tokens: '" + token->token() + "'");
  EXPECT_EQ(found->found(0).session_id(), "s");
}

TEST_F(RunnerServiceTest, UnclaimedSessionIsReassignedAfterARestart) {
  Make("s");
  Serving serving = Begin("a");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  EXPECT_OK(SetState("s", "a"));
  serving = nullptr;
  Stop(absl::ZeroDuration());
  Start();
  const Serving other = Begin("b");
  EXPECT_THAT(SetState("s", "b"), FailsWith(StatusCode::kUnavailable, "runner_away"));
  clock_.Advance(kRunnerLease);
  ExpectNeeded(other, "s");
  EXPECT_OK(SetState("s", "b"));
  EXPECT_THAT(SetState("s", "a"), FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
}

TEST_F(RunnerServiceTest, ReleasedSessionIsAssignedToAnotherRunner) {
  Make("s");
  const Serving first = Begin("a");
  Enqueue("s");
  ExpectNeeded(first, "s");
  const Serving second = Begin("b");
  EXPECT_OK(Call(&R::ReleaseSession, By("b")));
  EXPECT_OK(SetState("s", "a"));
  EXPECT_OK(Call(&R::ReleaseSession, By("a")));
  ExpectNeeded(second, "s");
  EXPECT_THAT(SetState("s", "a"), FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
}

TEST_F(RunnerServiceTest, TokenIsValidUntilItsSessionIsReleased) {
  Make("s");
  EXPECT_THAT(Call(&R::IssueSessionToken, By("a")),
              FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  const Serving serving = Begin("a");
  Enqueue("s");
  ExpectNeeded(serving, "s");
  const auto first = Call(&R::IssueSessionToken, By("a"));
  ASSERT_OK(first);
  EXPECT_THAT(first->token(), StartsWith("callslip-session-"));
  EXPECT_EQ(first->token().size(), 17 + 64);
  const auto second = Call(&R::IssueSessionToken, By("a"));
  const std::string both = absl::StrCat("tokens: '", first->token(),
                                        "' tokens: 'made-up' tokens: '", second->token(), "'");
  ASSERT_OK_AND_ASSIGN(const v1::FindSessionTokensResponse found,
                       Call(&R::FindSessionTokens, both));
  ASSERT_EQ(found.found_size(), 3);
  EXPECT_EQ(found.found(0).session_id(), "") << "replaced";
  EXPECT_EQ(found.found(1).session_id(), "");
  EXPECT_EQ(found.found(2).session_id(), "s");
  EXPECT_EQ(found.found(2).client_id(), "local");
  EXPECT_OK(Call(&R::ReleaseSession, By("a")));
  ASSERT_OK(Call(&S::GetSession, "session_id: 's'"));
  ASSERT_OK(Call(&S::UpdateSession, "session_id: 's' name: 'After the release.'"));
  EXPECT_EQ(Call(&R::FindSessionTokens, both)->found(2).session_id(), "");
}

TEST_F(RunnerServiceTest, ControlIsExecutedByTheRunner) {
  Make("s");
  const Serving serving = Begin("a");
  auto started = Control("action: AGENT_ACTION_START");
  EXPECT_EQ(Answer(serving).action(), v1::AGENT_ACTION_START);
  EXPECT_OK(started.get());
  EXPECT_OK(SetState("s", "a"));
  auto mode = Control("mode_id: 'plan'");
  EXPECT_EQ(Answer(serving).mode_id(), "plan");
  EXPECT_EQ(mode.get()->status(), v1::AGENT_STATUS_IDLE);
  auto refused = Control("config_option { id: 'model' value: 'x' }");
  Answer(serving, "error_reason: 'unknown_option' error_message: 'There is no such option.'");
  EXPECT_THAT(refused.get(), FailsWith(StatusCode::kFailedPrecondition, "unknown_option"));
}

TEST_F(RunnerServiceTest, ControlThatCannotBeExecutedFails) {
  Make("s");
  EXPECT_THAT(Control("action: AGENT_ACTION_START").get(),
              FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  EXPECT_OK(Control("action: AGENT_ACTION_STOP").get());
  EXPECT_THAT(Control("mode_id: 'plan'").get(),
              FailsWith(StatusCode::kFailedPrecondition, "agent_not_running"));
  EXPECT_THAT(Control("").get(), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(Control("mode_id: ''").get(),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(Control("action: AGENT_ACTION_START").get(),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(RunnerServiceTest, ControlFailsWhenTheRunnerDoesNotAnswerInTime) {
  Make("s");
  const Serving serving = Begin("a");
  auto waiting = Control("action: AGENT_ACTION_START");
  ASSERT_TRUE(serving->Next()->has_control());
  clock_.Advance(kControlWait);
  EXPECT_THAT(waiting.get(), FailsWith(StatusCode::kDeadlineExceeded, "runner_silent"));
}

TEST_F(RunnerServiceTest, UndeliveredControlIsDeliveredToTheNextCall) {
  Make("s");
  Serving lost = Begin("a");
  Enqueue("s");
  ExpectNeeded(lost, "s");
  lost = nullptr;
  AwaitGone("a");
  auto waiting = Control("action: AGENT_ACTION_RESTART");
  const Serving again = Begin("a");
  std::optional<v1::Assignment> next = again->Next();
  while (next.has_value() && next->has_needed()) next = again->Next();
  ASSERT_TRUE(next.has_value() && next->has_control());
  EXPECT_EQ(next->control().action(), v1::AGENT_ACTION_RESTART);
  EXPECT_OK(
      Call(&R::AnswerControl, absl::StrCat("session_id: 's' lease: ", next->lease(),
                                           " control_id: '", next->control().control_id(), "'")));
  EXPECT_OK(waiting.get());
}

TEST_F(RunnerServiceTest, NumberOfRunnersIsLimited) {
  std::vector<Serving> servings;
  for (size_t i = 0; i < kMaxRunnersOfClient; ++i) servings.push_back(Begin(absl::StrCat("r", i)));
  EXPECT_THAT(Serve(Offer("more"))->Finish(),
              FailsWith(StatusCode::kResourceExhausted, "too_many_runners"));
  servings.pop_back();
  AwaitGone(absl::StrCat("r", kMaxRunnersOfClient - 1));
  // A runner that is gone and has no session makes room.
  const Serving more = Begin("more");
}

TEST_F(RunnerServiceTest, ControlEndsWithItsSession) {
  Make("s");
  const Serving serving = Begin("a");
  auto waiting = Control("action: AGENT_ACTION_START");
  ASSERT_TRUE(serving->Next()->has_control());
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(waiting.get(), FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(RunnerServiceTest, NumberOfWaitingControlsIsLimited) {
  Make("s");
  const Serving serving = Begin("a");
  std::vector<std::future<absl::StatusOr<v1::AgentState>>> waiting;
  for (size_t i = 0; i < kMaxControlsOfSession; ++i) {
    waiting.push_back(Control("action: AGENT_ACTION_RESTART"));
    ASSERT_TRUE(serving->Next()->has_control());
  }
  EXPECT_THAT(Control("action: AGENT_ACTION_STOP").get(),
              FailsWith(StatusCode::kResourceExhausted, "too_many_controls"));
  clock_.Advance(kControlWait);
  for (auto& each : waiting) {
    EXPECT_THAT(each.get(), FailsWith(StatusCode::kDeadlineExceeded, "runner_silent"));
  }
}

}  // namespace
}  // namespace callslip::tracker
