// Agents' answers over the real listener, with gRPC's own client.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Commands in agents' answers, and a worker that leases them.
class AgentTextTest : public SessionServerTest {
 protected:
  AgentTextTest() {
    CreateSession();
    watch_ = Watch("session_id: 's' after_seq: 1");
    EXPECT_TRUE(watch_->Next()->has_snapshot());
    EXPECT_TRUE(watch_->Next()->has_caught_up());
  }

  // The next event; skips streamed text.
  v1::SessionEvent NextEvent() {
    while (true) {
      const auto update = watch_->Next();
      if (!update->has_agent_text()) return update->event();
    }
  }

  v1::CommandLease Lease() {
    return Call(&C::LeaseCommands, "target: 'session-s' max_commands: 1 max_wait { seconds: 30 }")
        ->leases(0);
  }
  static std::string Proof(const v1::CommandLease& lease) {
    return absl::StrCat("command_id: '", lease.command().command_id(), "' lease_token: '",
                        lease.lease_token(), "' ");
  }

  std::unique_ptr<StreamReader<v1::SessionUpdate>> watch_;
};

TEST_F(AgentTextTest, CommandRunsAndItsEndIsRecorded) {
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' text: 'Look: <she'")->commands(), SizeIs(0));
  ASSERT_OK_AND_ASSIGN(const auto found,
                       Call(&S::AddAgentText, "session_id: 's' text: 'll>ls</shell>' end: true"));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.commands(0).id(), "cmd-0-0");
  EXPECT_EQ(found.commands(0).command(), "ls");
  const v1::SessionEvent queued = NextEvent();
  EXPECT_EQ(MemberOf(queued, "tool_call_id"), "cmd-0-0");
  EXPECT_EQ(MemberOf(queued, "status"), "queued");
  EXPECT_EQ(MemberOf(NextEvent(), "text"), "Look: <shell>ls</shell>");

  const v1::CommandLease lease = Lease();
  EXPECT_EQ(lease.command().command_id(), found.commands(0).command_id());
  EXPECT_EQ(lease.command().type(), "shell");
  EXPECT_EQ(lease.command().params(), R"({"command":"ls"})");
  EXPECT_EQ(lease.command().request_id(), "s/cmd-0-0/2-1769947200000000");
  EXPECT_EQ(lease.command().label(), "s");
  ASSERT_OK(Call(&C::AcknowledgeCommand, Proof(lease)));
  const v1::SessionEvent running = NextEvent();
  EXPECT_EQ(MemberOf(running, "tool_call_id"), "cmd-0-0");
  EXPECT_EQ(MemberOf(running, "status"), "running");
  ASSERT_OK(Call(&C::CompleteCommand,
                 Proof(lease) + R"(result: '{"output":"README.md\\n","exit_code":1}')"));
  const v1::SessionEvent completed = NextEvent();
  EXPECT_EQ(MemberOf(completed, "status"), "completed");
  EXPECT_EQ(MemberOf(completed, "title"),
            "<result id=\"cmd-0-0\" exit_code=\"1\">\n$ ls\nREADME.md\n</result>\n");
}

TEST_F(AgentTextTest, TextIsShownBeforeTheAnswerEnds) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: 'Look'"));
  const auto piece = watch_->Next();
  EXPECT_EQ(piece->agent_text().text(), "Look");
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: ' here'"));
  EXPECT_EQ(watch_->Next()->agent_text().offset(), 4);
  const auto later = Watch("session_id: 's' after_seq: 1");
  const v1::SessionUpdate::AgentText known = later->Next()->snapshot().agent_text();
  EXPECT_EQ(known.DebugString(), "text: \"Look here\"\n");
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '!' end: true"));
  EXPECT_EQ(MemberOf(watch_->Next()->event(), "text"), "Look here!");
  EXPECT_FALSE(Watch("session_id: 's'")->Next()->snapshot().has_agent_text());
}

TEST_F(AgentTextTest, EqualCommandsRunSeparatelyAndCanFail) {
  ASSERT_OK_AND_ASSIGN(
      const auto found,
      Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell><shell>ls</shell>'"));
  ASSERT_THAT(found.commands(), SizeIs(2));
  EXPECT_EQ(found.commands(1).id(), "cmd-0-1");
  EXPECT_EQ(MemberOf(NextEvent(), "tool_call_id"), "cmd-0-0");
  EXPECT_EQ(MemberOf(NextEvent(), "tool_call_id"), "cmd-0-1");
  const v1::CommandLease first = Lease();
  // A result that is not JSON is the output itself, with U+FFFD for invalid bytes.
  ASSERT_OK(Call(&C::CompleteCommand, Proof(first) + "result: 'plain\\377'"));
  const v1::SessionEvent plain = NextEvent();
  EXPECT_EQ(MemberOf(plain, "tool_call_id"), "cmd-0-0");
  EXPECT_THAT(MemberOf(plain, "title"), HasSubstr("plain\xEF\xBF\xBD"));
  const v1::CommandLease second = Lease();
  ASSERT_OK(
      Call(&C::CompleteCommand, Proof(second) + "error { code: 'no_shell' message: 'none here' }"));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(MemberOf(failed, "tool_call_id"), "cmd-0-1");
  EXPECT_EQ(MemberOf(failed, "status"), "failed");
  EXPECT_THAT(MemberOf(failed, "title"), HasSubstr("no_shell: none here"));
}

TEST_F(AgentTextTest, CommandThatNoWorkerLeasesFails) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>'"));
  EXPECT_EQ(NextEvent().type(), "tool_call");
  clock_.Advance(absl::Seconds(30));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(MemberOf(failed, "status"), "failed");
  EXPECT_THAT(MemberOf(failed, "title"), HasSubstr("never_delivered"));
}

TEST_F(AgentTextTest, IterationsMustBeInOrder) {
  const auto add = [&](const std::string& piece) {
    return Call(&S::AddAgentText, "session_id: 's' " + piece);
  };
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(add("iteration: -1 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 1 text: 'one' end: true"));
  EXPECT_THAT(add("iteration: 1 text: 'x'"), invalid);
  EXPECT_THAT(add("iteration: 0 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 2 text: 'cut <shell>off'"));
  // The next answer ends the previous one, which the agent has not ended.
  ASSERT_OK_AND_ASSIGN(const auto found, add("iteration: 3 text: '</shell><shell>ls</shell>'"));
  EXPECT_EQ(found.commands(0).id(), "cmd-3-0");
  EXPECT_EQ(MemberOf(NextEvent(), "text"), "one");
  EXPECT_EQ(MemberOf(NextEvent(), "text"), "cut <shell>off");
  EXPECT_THAT(add("iteration: 3 text: '" + std::string((1 << 20) + 1, 'x') + "'"), invalid);
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(add("iteration: 3 text: 'x'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(AgentTextTest, ResultThatArrivesDuringDrainIsRecorded) {
  ASSERT_OK(Call(&S::AddAgentText,
                 "session_id: 's' text: '<shell>ls</shell><shell>id</shell>' end: true"));
  const v1::CommandLease lease = Lease();
  watch_ = nullptr;
  const auto watch = Watch("session_id: 's'");
  std::thread drain([this] { server_->Drain(absl::Seconds(5)); });
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
  EXPECT_OK(Call(&C::CompleteCommand, Proof(lease) + "result: 'done'"));
  drain.join();
  server_ = nullptr;
  deadlines_ = nullptr;
  commands_ = nullptr;
  sessions_ = nullptr;
  storage_ = nullptr;

  Start();
  std::map<std::string, v1::SessionEvent> ends;
  for (const v1::SessionEvent& event : Events()) {
    if (event.type() == "tool_call_update") {
      ends[MemberOf(event, "tool_call_id")] = event;
    }
  }
  EXPECT_EQ(MemberOf(ends["cmd-0-0"], "status"), "completed");
  EXPECT_THAT(MemberOf(ends["cmd-0-0"], "title"), HasSubstr("done"));
  EXPECT_EQ(MemberOf(ends["cmd-0-1"], "status"), "failed");
}

TEST_F(AgentTextTest, CommandIdsContinueAfterARestart) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>' end: true"));
  watch_ = nullptr;
  Stop(absl::ZeroDuration());
  Start();
  // Another text for the ended answer does not begin a new one.
  EXPECT_THAT(
      Call(&S::AddAgentText, "session_id: 's' text: '<shell>rm -rf build</shell>' end: true"),
      FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  ASSERT_OK_AND_ASSIGN(
      const auto found,
      Call(&S::AddAgentText, "session_id: 's' iteration: 1 text: '<shell>id</shell>'"));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.commands(0).id(), "cmd-1-0");
  // The worker gets this command and no other.
  const v1::CommandLease lease = Lease();
  EXPECT_EQ(lease.command().params(), R"({"command":"id"})");
}

TEST_F(AgentTextTest, RecreatedSessionHasItsOwnAnswers) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' iteration: 3 text: '<shell>ls</shell>'"));
  watch_ = nullptr;
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  clock_.Advance(absl::Seconds(1));
  CreateSession();
  ASSERT_OK_AND_ASSIGN(const auto found,
                       Call(&S::AddAgentText, "session_id: 's' text: '<shell>id</shell>'"));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.commands(0).id(), "cmd-0-0");
}

TEST_F(AgentTextTest, PieceThatIsSentAgainIsAddedOnce) {
  const std::string first = "session_id: 's' offset: 0 text: '<shell>rm -rf build</shell>.'";
  ASSERT_OK_AND_ASSIGN(const auto found, Call(&S::AddAgentText, first));
  ASSERT_OK_AND_ASSIGN(const auto again, Call(&S::AddAgentText, first));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.length(), 28);
  EXPECT_EQ(again.SerializeAsString(), found.SerializeAsString());
  // The part that overlaps is known already.
  ASSERT_OK_AND_ASSIGN(
      const auto more,
      Call(&S::AddAgentText, "session_id: 's' offset: 19 text: '</shell>.<shell>id</shell>'"));
  ASSERT_THAT(more.commands(), SizeIs(2));
  EXPECT_EQ(more.commands(0).command_id(), found.commands(0).command_id());
  EXPECT_EQ(more.commands(1).id(), "cmd-0-1");
  EXPECT_EQ(more.length(), 45);
  const std::string last = "session_id: 's' offset: 45 text: '!' end: true";
  ASSERT_OK(Call(&S::AddAgentText, last));
  EXPECT_EQ(Call(&S::AddAgentText, last)->length(), 46);
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' text: '!' end: true"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_EQ(MemberOf(NextEvent(), "tool_call_id"), "cmd-0-0");
  EXPECT_EQ(MemberOf(NextEvent(), "tool_call_id"), "cmd-0-1");
  const v1::SessionEvent message = NextEvent();
  EXPECT_EQ(MemberOf(message, "text"), "<shell>rm -rf build</shell>.<shell>id</shell>!");
  EXPECT_EQ(MemberOf(message, "iteration"), "0");
  EXPECT_EQ(Events().size(), 4u);
}

TEST_F(AgentTextTest, GapIsRefused) {
  const auto gap = FailsWith(StatusCode::kOutOfRange, "answer_gap");
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' offset: 1 text: 'x'"), gap);
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' offset: 0 text: 'one'"));
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' offset: 4 text: 'x'"), gap);
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' iteration: 1 offset: 3 text: 'x'"), gap);
  EXPECT_EQ(Call(&S::AddAgentText, "session_id: 's' offset: 3 text: 'x'")->length(), 4);
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' offset: -1 text: 'x'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(AgentTextTest, TextThatCouldNotBeStoredIsAddedOnRetry) {
  watch_ = nullptr;
  const auto failed = FailsWith(StatusCode::kUnavailable, "storage_failed");
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: 'Look: <she'"));
  const std::string last = "session_id: 's' text: 'll>ls</shell>' end: true";
  disk_.Fail(0, 1'000'000);
  EXPECT_THAT(Call(&S::AddAgentText, last), failed);
  EXPECT_THAT(Call(&S::AddAgentText, last), failed);
  disk_.Fail(0, 0);
  ASSERT_OK_AND_ASSIGN(const auto found, Call(&S::AddAgentText, last));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.commands(0).id(), "cmd-0-0");
  EXPECT_NE(found.commands(0).command_id(), "");
  const std::vector<v1::SessionEvent> events = Events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(MemberOf(events[2], "text"), "Look: <shell>ls</shell>");
}

TEST_F(AgentTextTest, AnswerInterruptedByARestartCanBeSentAgain) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' offset: 0 text: '<shell>ls</shell><she'"));
  watch_ = nullptr;
  Stop(absl::ZeroDuration());
  Start();
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' offset: 22 text: 'll>id</shell>' end: true"),
              FailsWith(StatusCode::kOutOfRange, "answer_gap"));
  const std::string whole =
      "session_id: 's' offset: 0 text: '<shell>ls</shell><shell>id</shell>' end: true";
  ASSERT_OK_AND_ASSIGN(const auto found, Call(&S::AddAgentText, whole));
  ASSERT_THAT(found.commands(), SizeIs(2));
  // The first command ended with the tracker.
  EXPECT_EQ(found.commands(0).command_id(), "");
  EXPECT_EQ(found.commands(1).id(), "cmd-0-1");
  EXPECT_EQ(Lease().command().params(), R"({"command":"id"})");
  Stop(absl::ZeroDuration());
  Start();
  EXPECT_THAT(Call(&S::AddAgentText, whole)->commands(), SizeIs(0));
  int messages = 0;
  int calls = 0;
  for (const v1::SessionEvent& event : Events()) {
    messages += event.type() == "agent_message" ? 1 : 0;
    calls += event.type() == "tool_call" ? 1 : 0;
  }
  EXPECT_EQ(messages, 1);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace callslip::tracker
