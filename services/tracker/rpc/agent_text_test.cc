// Agents' answers over the real listener, with gRPC's own client.
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Commands in agents' answers, and a worker that is told of them.
class AgentTextTest : public SessionServerTest {
 protected:
  AgentTextTest() {
    CreateSession();
    watch_ = Watch("session_id: 's' after_seq: 1");
    EXPECT_TRUE(watch_->Next()->has_snapshot());
    EXPECT_TRUE(watch_->Next()->has_caught_up());
  }

  v1::SessionEvent NextEvent() { return watch_->Next()->event(); }

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
  EXPECT_EQ(queued.tool_call().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(queued.tool_call().status(), "queued");
  EXPECT_EQ(NextEvent().agent_message().text(), "Look: <shell>ls</shell>");

  const v1::CommandLease lease = Lease();
  EXPECT_EQ(lease.command().command_id(), found.commands(0).command_id());
  EXPECT_EQ(lease.command().type(), "shell");
  EXPECT_EQ(lease.command().params(), R"({"command":"ls"})");
  EXPECT_EQ(lease.command().request_id(), "s/cmd-0-0");
  EXPECT_EQ(lease.command().label(), "s");
  ASSERT_OK(Call(&C::AcknowledgeCommand, Proof(lease)));
  const v1::SessionEvent running = NextEvent();
  EXPECT_EQ(running.tool_call_update().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(running.tool_call_update().status(), "running");
  ASSERT_OK(Call(&C::CompleteCommand,
                 Proof(lease) + R"(result: '{"output":"README.md\\n","exit_code":1}')"));
  const v1::SessionEvent completed = NextEvent();
  EXPECT_EQ(completed.tool_call_update().status(), "completed");
  EXPECT_EQ(completed.tool_call_update().title(),
            "<result id=\"cmd-0-0\" exit_code=\"1\">\n$ ls\nREADME.md\n</result>\n");
}

TEST_F(AgentTextTest, EqualCommandsAreTwoCommandsAndAWorkerMayFailThem) {
  ASSERT_OK_AND_ASSIGN(
      const auto found,
      Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell><shell>ls</shell>'"));
  ASSERT_THAT(found.commands(), SizeIs(2));
  EXPECT_EQ(found.commands(1).id(), "cmd-0-1");
  EXPECT_EQ(NextEvent().tool_call().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(NextEvent().tool_call().tool_call_id(), "cmd-0-1");
  const v1::CommandLease first = Lease();
  // What is no JSON is output as it is, valid UTF-8 or not.
  ASSERT_OK(Call(&C::CompleteCommand, Proof(first) + "result: 'plain\\377'"));
  const v1::SessionEvent plain = NextEvent();
  EXPECT_EQ(plain.tool_call_update().tool_call_id(), "cmd-0-0");
  EXPECT_THAT(plain.tool_call_update().title(), HasSubstr("plain\xEF\xBF\xBD"));
  const v1::CommandLease second = Lease();
  ASSERT_OK(
      Call(&C::CompleteCommand, Proof(second) + "error { code: 'no_shell' message: 'none here' }"));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(failed.tool_call_update().tool_call_id(), "cmd-0-1");
  EXPECT_EQ(failed.tool_call_update().status(), "failed");
  EXPECT_THAT(failed.tool_call_update().title(), HasSubstr("no_shell: none here"));
}

TEST_F(AgentTextTest, CommandThatNoWorkerTakesFails) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>'"));
  EXPECT_TRUE(NextEvent().has_tool_call());
  clock_.Advance(absl::Seconds(30));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(failed.tool_call_update().status(), "failed");
  EXPECT_THAT(failed.tool_call_update().title(), HasSubstr("never_delivered"));
}

TEST_F(AgentTextTest, IterationsComeOneAfterTheOther) {
  const auto add = [&](const std::string& piece) {
    return Call(&S::AddAgentText, "session_id: 's' " + piece);
  };
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(add("iteration: -1 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 1 text: 'one' end: true"));
  EXPECT_THAT(add("iteration: 1 text: 'x'"), invalid);
  EXPECT_THAT(add("iteration: 0 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 2 text: 'cut <shell>off'"));
  // The next answer ends the one before, which its agent did not.
  ASSERT_OK_AND_ASSIGN(const auto found, add("iteration: 3 text: '</shell><shell>ls</shell>'"));
  EXPECT_EQ(found.commands(0).id(), "cmd-3-0");
  EXPECT_EQ(NextEvent().agent_message().text(), "one");
  EXPECT_EQ(NextEvent().agent_message().text(), "cut <shell>off");
  EXPECT_THAT(add("iteration: 3 text: '" + std::string((1 << 20) + 1, 'x') + "'"), invalid);
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(add("iteration: 3 text: 'x'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(AgentTextTest, ResultThatComesWhileTheTrackerDrainsIsRecorded) {
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
  std::map<std::string, v1::ToolCallUpdateEvent> ends;
  for (const v1::SessionEvent& event : Events()) {
    if (event.has_tool_call_update()) {
      ends[event.tool_call_update().tool_call_id()] = event.tool_call_update();
    }
  }
  EXPECT_EQ(ends["cmd-0-0"].status(), "completed");
  EXPECT_THAT(ends["cmd-0-0"].title(), HasSubstr("done"));
  EXPECT_EQ(ends["cmd-0-1"].status(), "failed");
}

}  // namespace
}  // namespace callslip::tracker
