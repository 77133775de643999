// SessionService over the real listener, with gRPC's own client.
#include <set>
#include <string>
#include <vector>

#include "callslip/tracker/v1/admin_service.pb.h"
#include "callslip/tracker/v1/annotation_service.pb.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class TrackerSessionsTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;
};

TEST_F(TrackerSessionsTest, EveryMethodOfTheProtosIsServed) {
  std::set<std::string> served;
  for (const RpcStatistics& rpc : server_->Statistics().admission.rpcs) served.insert(rpc.method);
  int methods = 0;
  for (const google::protobuf::Descriptor* any :
       {v1::GetHealthRequest::descriptor(), v1::ListAnnotationsRequest::descriptor(),
        v1::GetCommandRequest::descriptor(), v1::GetQueueStatusRequest::descriptor(),
        v1::GetSessionRequest::descriptor(), v1::ListRunnersRequest::descriptor(),
        v1::ListWorkersRequest::descriptor()}) {
    const google::protobuf::ServiceDescriptor* service = any->file()->service(0);
    for (int i = 0; i < service->method_count(); ++i, ++methods) {
      EXPECT_EQ(served.count(service->method(i)->name()), 1)
          << service->method(i)->full_name() << " would never be answered";
    }
  }
  EXPECT_GE(methods, 50);
}

TEST_F(TrackerSessionsTest, SessionIsCreatedEndedResumedArchivedAndDeleted) {
  ASSERT_OK_AND_ASSIGN(
      const v1::Session made,
      Call(&S::CreateSession,
           "session_id: 's' name: 'Tests' acp_server: 'claude' working_dir: '/w'"));
  EXPECT_EQ(made.client_id(), "local");
  EXPECT_EQ(made.state(), v1::SESSION_STATE_ACTIVE);
  EXPECT_EQ(made.event_count(), 1);
  EXPECT_EQ(made.max_seq(), 1);
  EXPECT_THAT(Call(&S::CreateSession, "session_id: 's'"),
              FailsWith(StatusCode::kAlreadyExists, "session_exists"));
  EXPECT_THAT(Call(&S::CreateSession, "session_id: '../s'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(Call(&S::ResumeSession, "session_id: 's'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_not_ended"));

  EXPECT_EQ(Call(&S::UpdateSession, "session_id: 's' name: 'Renamed'")->name(), "Renamed");
  ASSERT_OK_AND_ASSIGN(const v1::Session ended,
                       Call(&S::EndSession, "session_id: 's' reason: 'done'"));
  EXPECT_EQ(ended.state(), v1::SESSION_STATE_COMPLETED);
  EXPECT_EQ(ended.end_reason(), "done");
  EXPECT_EQ(Call(&S::EndSession, "session_id: 's' reason: 'again'")->end_reason(), "done");
  EXPECT_THAT(Call(&S::AppendEvents, "session_id: 's' events { type: 'agent_message' data: '{}' }"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
  EXPECT_EQ(Call(&S::ResumeSession, "session_id: 's'")->state(), v1::SESSION_STATE_ACTIVE);

  ASSERT_OK_AND_ASSIGN(const v1::Session archived,
                       Call(&S::UpdateSession, "session_id: 's' archived: true"));
  EXPECT_TRUE(archived.archived());
  EXPECT_TRUE(archived.has_archive_time());
  EXPECT_THAT(Call(&S::ListSessions, "")->sessions(), SizeIs(0));
  EXPECT_THAT(Call(&S::ListSessions, "with_archived: true")->sessions(), SizeIs(1));
  EXPECT_FALSE(Call(&S::UpdateSession, "session_id: 's' archived: false")->archived());

  EXPECT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_THAT(Call(&S::GetSession, "session_id: 's'"),
              FailsWith(StatusCode::kNotFound, "unknown_session"));
  EXPECT_THAT(Call(&S::DeleteSession, "session_id: 's'"),
              FailsWith(StatusCode::kNotFound, "unknown_session"));
}

TEST_F(TrackerSessionsTest, OwnSessionsAreListedInPagesNewestFirst) {
  for (const char* id : {"a", "b", "c"}) {
    CreateSession(id);
    clock_.Advance(absl::Seconds(1));
  }
  ASSERT_OK(Call(&S::CreateSession, "client_id: 'other' session_id: 'd'"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 'b'"));
  ASSERT_OK_AND_ASSIGN(const auto first, Call(&S::ListSessions, "page_size: 2"));
  ASSERT_THAT(first.sessions(), SizeIs(2));
  EXPECT_EQ(first.sessions(0).session_id(), "c");
  EXPECT_EQ(first.sessions(1).session_id(), "b");
  ASSERT_OK_AND_ASSIGN(
      const auto second,
      Call(&S::ListSessions, "page_size: 2 page_token: '" + first.next_page_token() + "'"));
  ASSERT_THAT(second.sessions(), SizeIs(1));
  EXPECT_EQ(second.next_page_token(), "");
  EXPECT_THAT(Call(&S::ListSessions, "state: SESSION_STATE_COMPLETED")->sessions(), SizeIs(1));
  EXPECT_THAT(Call(&S::ListSessions, "page_token: 'nonsense'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_page_token"));
}

TEST_F(TrackerSessionsTest, AnotherClientsSessionIsUnknown) {
  CreateSession();
  ASSERT_OK_AND_ASSIGN(const v1::Player player, Call(&S::OpenPlayer, "session_id: 's'"));
  const std::string id = "client_id: 'other' session_id: 's' ";
  const auto unknown = FailsWith(StatusCode::kNotFound, "unknown_session");
  EXPECT_THAT(Call(&S::GetSession, id), unknown);
  EXPECT_THAT(Call(&S::UpdateSession, id + "name: 'x'"), unknown);
  EXPECT_THAT(Call(&S::EndSession, id), unknown);
  EXPECT_THAT(Call(&S::ResumeSession, id), unknown);
  EXPECT_THAT(Call(&S::DeleteSession, id), unknown);
  EXPECT_THAT(Call(&S::AppendEvents, id + "events { type: 'agent_message' data: '{}' }"), unknown);
  EXPECT_THAT(Call(&S::ReadEvents, id), unknown);
  EXPECT_THAT(Watch(id)->Finish(), unknown);
  EXPECT_THAT(Call(&S::OpenPlayer, id), unknown);
  EXPECT_THAT(Call(&S::AddAgentText, id + "text: '<shell>ls</shell>'"), unknown);
  EXPECT_THAT(Call(&S::AskPermission, id + "title: 'x' options { option_id: 'y' }"), unknown);
  EXPECT_THAT(Call(&S::AnswerPermission, id + "permission_id: 'p'"), unknown);
  EXPECT_THAT(Call(&S::ListPermissions, id), unknown);
  EXPECT_THAT(Call(&S::CancelPermissions, id), unknown);
  EXPECT_THAT(Call(&Q::AddMessage, id + "message: 'x'"), unknown);
  EXPECT_THAT(Call(&Q::GetMessage, id), unknown);
  EXPECT_THAT(Call(&Q::ListMessages, id), unknown);
  EXPECT_THAT(Call(&Q::EditMessage, id), unknown);
  EXPECT_THAT(Call(&Q::MoveMessage, id), unknown);
  EXPECT_THAT(Call(&Q::PopMessage, id), unknown);
  EXPECT_THAT(Call(&Q::DeleteMessage, id), unknown);
  EXPECT_THAT(Call(&Q::ClearMessages, id), unknown);
  EXPECT_THAT(Call(&Q::GetQueueStatus, id), unknown);
  EXPECT_THAT(Call(&Q::ConfigureQueue, id), unknown);
  EXPECT_THAT(Call(&Q::PauseQueue, id), unknown);
  EXPECT_THAT(Call(&Q::ResumeQueue, id), unknown);
  EXPECT_THAT(Call(&Q::StopTurn, id), unknown);
  EXPECT_THAT(Receive(id)->Finish(), unknown);
  EXPECT_THAT(Call(&Q::StartTurn, id), unknown);
  EXPECT_THAT(Call(&Q::FinishTurn, id + "outcome: OUTCOME_COMPLETED"), unknown);
  const std::string player_id = "client_id: 'other' player_id: '" + player.player_id() + "' ";
  const auto unknown_player = FailsWith(StatusCode::kNotFound, "unknown_player");
  EXPECT_THAT(Call(&S::MovePlayer, player_id + "reset: true"), unknown_player);
  EXPECT_THAT(Call(&S::ClosePlayer, player_id), unknown_player);
  EXPECT_THAT(Play(player_id)->Finish(), unknown_player);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(TrackerSessionsTest, EventsAreReadAsTheyWereAppended) {
  CreateSession();
  const auto request = Parse<v1::AppendEventsRequest>(R"(
    session_id: 's'
    events { type: 'agent_message' data: '{"text":"\303\244","message_id":"m"}' }
    events { type: 'tool_call' data: '{"tool_call_id":"t","raw_input":{"b":1.0, "a":2}}' }
    events { type: 'mine' data: '{}' })");
  ASSERT_OK_AND_ASSIGN(const auto appended, Send(&S::AppendEvents, request));
  EXPECT_EQ(appended.first_seq(), 2);
  EXPECT_EQ(appended.last_seq(), 4);
  std::vector<v1::SessionEvent> events = Events();
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(MemberOf(events[0], "session_id"), "s");
  for (int i = 0; i < request.events_size(); ++i) {
    v1::SessionEvent& event = events[static_cast<size_t>(i) + 1];
    EXPECT_EQ(event.seq(), i + 2);
    EXPECT_TRUE(event.has_time());
    event.clear_seq();
    event.clear_time();
    EXPECT_EQ(event.DebugString(), request.events(i).DebugString());
  }
}

TEST_F(TrackerSessionsTest, CallWithAnInvalidEventRecordsNothing) {
  CreateSession();
  const std::string good = "session_id: 's' events { type: 'agent_message' data: '{}' } ";
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(Call(&S::AppendEvents, "session_id: 's'"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { }"), invalid);
  for (const char* type : {"session_start", "session_end", ""}) {
    const std::string event = absl::StrCat("events { type: '", type, "' data: '{}' }");
    EXPECT_THAT(Call(&S::AppendEvents, good + event), invalid) << type;
  }
  for (const char* data : {"", "{", "[]", "{} {}"}) {
    const std::string event = absl::StrCat("events { type: 'error' data: '", data, "' }");
    EXPECT_THAT(Call(&S::AppendEvents, good + event), invalid) << data;
  }
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { type: 'agent_message' data: '{\"text\":\"" +
                                         std::string(size_t{4} << 20, 'x') + "\"}' }"),
              FailsWith(StatusCode::kInvalidArgument, "event_too_large"));
  v1::AppendEventsRequest many;
  many.set_session_id("s");
  for (int i = 0; i < 1001; ++i) *many.add_events() = v1::MakeMessage("x");
  EXPECT_THAT(Send(&S::AppendEvents, many), invalid);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(TrackerSessionsTest, EventsAreReadInBothDirectionsByPositionAndByType) {
  CreateSession();
  Append({"2", "3", "4", "5"});
  ASSERT_OK(Call(&S::AppendEvents, "session_id: 's' events { type: 'error' data: '{}' }"));
  const auto read = [&](const std::string& from) {
    return *Call(&S::ReadEvents, "session_id: 's' limit: 2 " + from);
  };
  EXPECT_THAT(SeqsOf(read("").events()), ElementsAre(1, 2));
  EXPECT_THAT(SeqsOf(read("after_seq: 4").events()), ElementsAre(5, 6));
  EXPECT_THAT(SeqsOf(read("before_seq: 4").events()), ElementsAre(2, 3));
  const v1::ReadEventsResponse page = read("position: 1");
  EXPECT_THAT(SeqsOf(page.events()), ElementsAre(2, 3));
  EXPECT_EQ(page.next_position(), 3);
  EXPECT_EQ(page.length(), 6);
  EXPECT_EQ(page.max_seq(), 6);
  EXPECT_TRUE(page.has_more());
  EXPECT_THAT(SeqsOf(read("type: 'error'").events()), ElementsAre(6));
  EXPECT_THAT(Call(&S::ReadEvents, "session_id: 's' limit: -1"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(TrackerSessionsTest, ServicesAreKnownToHealthChecks) {
  const auto health = grpc::health::v1::Health::NewStub(channel_);
  for (const char* service :
       {"callslip.tracker.v1.SessionService", "callslip.tracker.v1.QueueService"}) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    ASSERT_TRUE(health->Check(&context, request, &response).ok()) << service;
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
  }
}

TEST_F(TrackerSessionsTest, SessionsSurviveARestartOfTheTracker) {
  CreateSession();
  Append({"2"});
  Stop(absl::ZeroDuration());
  EXPECT_OK(FileSessionStorage::Open(folder_.path(), &disk_));
  Start();
  EXPECT_THAT(Events(), SizeIs(2));
  EXPECT_THAT(FileSessionStorage::Open(folder_.path(), &disk_),
              FailsWith(StatusCode::kFailedPrecondition, "data_dir_locked"));
}

TEST_F(TrackerSessionsTest, CallWithATooLargeEventRecordsNothing) {
  CreateSession();
  clock_.Advance(absl::Nanoseconds(123'456'789));  // Times are as long as they get.
  // One of these sizes is the first that fits, whatever a line contains beside its text.
  for (int spare = 0; spare < 200; ++spare) {
    v1::AppendEventsRequest request;
    request.set_session_id("s");
    *request.add_events() = v1::MakeMessage("small");
    *request.add_events() = v1::MakeMessage(std::string((4 << 20) - spare, 'x'));
    const int64_t before = Call(&S::GetSession, "session_id: 's'")->event_count();
    const auto appended = Send(&S::AppendEvents, request);
    const int64_t after = Call(&S::GetSession, "session_id: 's'")->event_count();
    if (appended.ok()) {
      EXPECT_EQ(after, before + 2);
      return;
    }
    EXPECT_THAT(appended, FailsWith(StatusCode::kInvalidArgument, "event_too_large"));
    ASSERT_EQ(after, before) << "with " << spare << " bytes to spare";
  }
  FAIL() << "nothing fits";
}

TEST_F(TrackerSessionsTest, LengthOfPromptIdsIsLimited) {
  CreateSession();
  const auto append = [&](const char* name, size_t size) {
    v1::AppendEventsRequest request;
    request.set_session_id("s");
    *request.add_events() = v1::MakeEvent("user_prompt", {{name, std::string(size, 'x')}});
    return Send(&S::AppendEvents, request);
  };
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_OK(append("prompt_id", 128));
  EXPECT_THAT(append("prompt_id", 129), invalid);
  EXPECT_THAT(append("queue_id", 129), invalid);
}

}  // namespace
}  // namespace callslip::tracker
