// Agents, children and images of sessions over the real listener, with gRPC's own client.
#include <memory>
#include <string>
#include <variant>

#include "absl/synchronization/notification.h"

#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::SizeIs;

class SessionAgentRpcTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;

  // As the runner's calls do.
  void SetAgent(AgentChange change) {
    absl::Notification stored;
    sessions_->Run(
        "s",
        [change](Session& session, absl::Time now) { return session.SetAgentState(change, now); },
        [&](const absl::Status& status) {
          EXPECT_OK(status);
          stored.Notify();
        });
    stored.WaitForNotification();
  }
};

TEST_F(SessionAgentRpcTest, ListsAndNoticesOmitAgentDetails) {
  CreateSession();
  const auto notices = WatchSessions("");
  EXPECT_EQ(notices->Next()->action(), "started");
  SetAgent({.status = AgentStatus::kFailed,
            .reason = "auth_required",
            .message = "log in",
            .runner_id = "r",
            .agent_session_id = "a",
            .details = R"({"modes":[]})"});
  const v1::AgentState agent = Call(&S::GetSession, "session_id: 's'")->agent();
  EXPECT_EQ(agent.status(), v1::AGENT_STATUS_FAILED);
  EXPECT_EQ(agent.reason(), "auth_required");
  EXPECT_EQ(agent.message(), "log in");
  EXPECT_EQ(agent.runner_id(), "r");
  EXPECT_EQ(agent.agent_session_id(), "a");
  EXPECT_EQ(agent.details(), R"({"modes":[]})");
  EXPECT_TRUE(agent.has_update_time());
  const auto listed = Call(&S::ListSessions, "")->sessions(0).agent();
  EXPECT_EQ(listed.status(), v1::AGENT_STATUS_FAILED);
  EXPECT_EQ(listed.details(), "");
  EXPECT_EQ(notices->Next()->action(), "queue");
  const auto notice = notices->Next();
  EXPECT_EQ(notice->action(), "agent");
  EXPECT_EQ(notice->session().agent().status(), v1::AGENT_STATUS_FAILED);
  EXPECT_EQ(notice->session().agent().details(), "");

  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_EQ(watch->Next()->snapshot().session().agent().details(), R"({"modes":[]})");
  EXPECT_TRUE(watch->Next()->has_caught_up());
  SetAgent({.status = AgentStatus::kStarting});
  const auto told = watch->Next();
  EXPECT_EQ(told->agent().status(), v1::AGENT_STATUS_STARTING);
  EXPECT_EQ(told->agent().details(), R"({"modes":[]})");
}

TEST_F(SessionAgentRpcTest, EachAgentFailurePausesTheQueueOnce) {
  CreateSession();
  SetAgent({.status = AgentStatus::kStarting});
  SetAgent({.status = AgentStatus::kFailed, .reason = "auth_required", .message = "log in"});
  const auto paused = Call(&Q::AddMessage, "session_id: 's' message: 'too late'");
  ASSERT_OK(paused);
  const auto session = Call(&S::GetSession, "session_id: 's'");
  EXPECT_EQ(session->pause_reason(), "auth_required");
  const auto queue = Call(&Q::GetQueueStatus, "session_id: 's'");
  EXPECT_EQ(queue->pause_reason(), "auth_required");
  EXPECT_EQ(queue->pause_message(), "log in");
  // A failure pauses the queue once: a queue that a person has resumed stays so.
  ASSERT_OK(Call(&Q::ResumeQueue, "session_id: 's'"));
  SetAgent({.status = AgentStatus::kFailed, .reason = "auth_required", .message = "log in"});
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->pause_reason(), "");
  SetAgent({.status = AgentStatus::kStarting});
  SetAgent({.status = AgentStatus::kFailed});
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->pause_reason(), "auth_required");
  // A failure with another number is another one, even if no status came in between.
  for (const int64_t failure : {7, 7, 8}) {
    ASSERT_OK(Call(&Q::ResumeQueue, "session_id: 's'"));
    SetAgent({.status = AgentStatus::kFailed, .failure = failure});
    EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->pause_reason(), "auth_required");
    ASSERT_OK(Call(&Q::ResumeQueue, "session_id: 's'"));
    SetAgent({.status = AgentStatus::kFailed, .failure = failure});
    EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->pause_reason(), "");
    SetAgent({.status = AgentStatus::kFailed, .failure = failure + 100});
  }
}

TEST_F(SessionAgentRpcTest, AgentFailureDuringATurnDoesNotPauseTheQueue) {
  CreateSession();
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'one'"));
  const auto runner = Receive("session_id: 's'");
  const std::string turn = runner->Next()->turn_id();
  ASSERT_OK(Call(&Q::StartTurn, "session_id: 's' turn_id: '" + turn + "'"));
  SetAgent({.status = AgentStatus::kFailed, .reason = "agent_crashed"});
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->pause_reason(), "");
}

TEST_F(SessionAgentRpcTest, SessionReportsItsQueueLengthAndTurn) {
  CreateSession();
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'one'"));
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'two'"));
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->queue_length(), 2);
  const auto runner = Receive("session_id: 's'");
  const std::string turn = runner->Next()->turn_id();
  ASSERT_OK(Call(&Q::StartTurn, "session_id: 's' turn_id: '" + turn + "'"));
  const v1::Session session = *Call(&S::GetSession, "session_id: 's'");
  EXPECT_EQ(session.queue_length(), 1);
  EXPECT_EQ(session.turn_id(), turn);
}

TEST_F(SessionAgentRpcTest, TurnEndIsRecordedWithItsUsage) {
  CreateSession();
  const auto runner = Receive("session_id: 's'");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'one'"));
  const std::string turn = runner->Next()->turn_id();
  ASSERT_OK(Call(&Q::StartTurn, "session_id: 's' turn_id: '" + turn + "'"));
  const std::string finish = "session_id: 's' turn_id: '" + turn +
                             "' outcome: OUTCOME_COMPLETED stop_reason: 'end_turn' usage: ";
  EXPECT_THAT(Call(&Q::FinishTurn, finish + "'[]'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  ASSERT_OK(Call(&Q::FinishTurn, finish + R"('{"tokens":7}')"));
  const auto page = Call(&S::ReadEvents, "session_id: 's' type: 'turn_end'");
  ASSERT_THAT(page->events(), SizeIs(1));
  EXPECT_EQ(page->events(0).data(),
            R"({"turn_id":")" + turn +
                R"(","outcome":"completed","stop_reason":"end_turn","usage":{"tokens":7}})");
}

TEST_F(SessionAgentRpcTest, PermissionHasDetailsAndRecordsWhoDecided) {
  CreateSession();
  const std::string ask =
      "session_id: 's' permission_id: 'p' title: 'write?' kind: 'edit' "
      "options { option_id: 'no' kind: 'reject_once' } details: ";
  EXPECT_THAT(Call(&S::AskPermission, ask + "'7'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  ASSERT_OK(Call(&S::AskPermission, ask + R"('{"path":"/a"}')"));
  const v1::Permission open = Call(&S::ListPermissions, "session_id: 's'")->permissions(0);
  EXPECT_EQ(open.kind(), "edit");
  EXPECT_EQ(open.details(), R"({"path":"/a"})");
  ASSERT_OK(Call(&S::AnswerPermission,
                 "session_id: 's' permission_id: 'p' option_id: 'no' decided_by: 'agent'"));
  const auto page = Call(&S::ReadEvents, "session_id: 's' type: 'permission'");
  EXPECT_EQ(MemberOf(page->events(0), "decided_by"), "agent");
  EXPECT_EQ(MemberOf(page->events(0), "permission_id"), "p");
}

TEST_F(SessionAgentRpcTest, TitleDoesNotReplaceAName) {
  CreateSession();
  const std::string update = "session_id: 's' if_unnamed: true name: ";
  EXPECT_EQ(Call(&S::UpdateSession, update + "'Title'")->name(), "Title");
  EXPECT_EQ(Call(&S::UpdateSession, update + "'Other'")->name(), "Title");
  EXPECT_EQ(Call(&S::UpdateSession, "session_id: 's' name: 'Mine'")->name(), "Mine");
}

TEST_F(SessionAgentRpcTest, ParentMustBeAnActiveSessionOfTheSameClient) {
  CreateSession();
  const auto child = Call(&S::CreateSession, "session_id: 'c' parent_session_id: 's'");
  ASSERT_OK(child);
  EXPECT_EQ(child->parent_session_id(), "s");
  EXPECT_FALSE(child->detached());
  EXPECT_TRUE(Call(&S::CreateSession, "parent_session_id: 's' detached: true")->detached());
  EXPECT_THAT(Call(&S::CreateSession, "client_id: 'other' parent_session_id: 's'"),
              FailsWith(StatusCode::kNotFound, "unknown_session"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(Call(&S::CreateSession, "parent_session_id: 's'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(SessionAgentRpcTest, LargestImageIsStoredAndReturned) {
  CreateSession();
  v1::PutImageRequest put;
  put.set_session_id("s");
  put.set_name("cat");
  put.set_data("GIF89a" + std::string(kMaxImageBytes - 6, '\xff'));
  ASSERT_OK_AND_ASSIGN(const v1::ImageRef image, Send(&S::PutImage, put));
  EXPECT_EQ(image.mime_type(), "image/gif");
  v1::GetImageRequest get;
  get.set_session_id("s");
  get.set_image_id(image.id());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  std::get<std::unique_ptr<S>>(stubs_) = v1::SessionService::NewStub(
      grpc::CreateCustomChannel("unix:" + socket_folder_.path() + "/tracker.sock",
                                grpc::InsecureChannelCredentials(), arguments));
  ASSERT_OK_AND_ASSIGN(const v1::GetImageResponse back, Send(&S::GetImage, get));
  EXPECT_EQ(back.image().DebugString(), image.DebugString());
  EXPECT_TRUE(back.data() == put.data());
  get.set_client_id("other");
  EXPECT_THAT(Send(&S::GetImage, get), FailsWith(StatusCode::kNotFound, "unknown_session"));
  put.mutable_data()->push_back('x');
  EXPECT_THAT(Send(&S::PutImage, put), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

}  // namespace
}  // namespace callslip::tracker
