// Notices for clients that follow many sessions.
#include <string>
#include <vector>

#include "gateway/api/session_api_fixture.h"
#include "gmock/gmock.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;

class SessionNoticesTest : public SessionApiTest {
 protected:
  using SessionApiTest::SessionApiTest;

  std::shared_ptr<FakeWebSocket> Follow() {
    auto socket = Connect("/api/events/ws");
    Tell("started", nullptr);
    EXPECT_THAT(socket->Types(), ElementsAre("connected"));
    return socket;
  }

  // Pushes a notice. If `fill` is set, the notice is about the session s-1 and `fill` completes it.
  void Tell(const std::string& action, void (*fill)(v1::SessionNotice&)) {
    v1::SessionNotice notice;
    notice.set_action(action);
    if (fill != nullptr) {
      notice.mutable_session()->set_session_id("s-1");
      fill(notice);
    }
    client_.global_watches.at(0)->Push(notice);
    Run();
  }

  void Leave(const std::shared_ptr<FakeWebSocket>& socket) {
    socket->Leave();
    Run();
  }
};

TEST_F(SessionNoticesTest, ReportTurns) {
  const auto socket = Follow();
  Tell("turn", [](v1::SessionNotice& notice) {
    notice.mutable_turn()->set_turn_id("turn-1");
    notice.mutable_turn()->set_message_id("q-1");
  });
  Tell("turn", [](v1::SessionNotice& notice) {
    notice.mutable_turn()->set_turn_id("turn-1");
    notice.mutable_turn()->set_outcome("failed");
    notice.mutable_turn()->set_reason("rate_limited");
    notice.mutable_turn()->set_message("later");
  });
  EXPECT_EQ(socket->Message(1), Json::parse(R"({"type":"turn_started",
                            "data":{"session_id":"s-1","turn_id":"turn-1","message_id":"q-1"}})"));
  EXPECT_EQ(socket->Message(2), Json::parse(R"({"type":"turn_ended",
                            "data":{"session_id":"s-1","turn_id":"turn-1","outcome":"failed",
                                    "reason":"rate_limited","message":"later"}})"));
  Leave(socket);
}

TEST_F(SessionNoticesTest, ReportPermissions) {
  const auto socket = Follow();
  Tell("permission", [](v1::SessionNotice& notice) {
    notice.mutable_session()->set_open_permissions(2);
    notice.mutable_permission()->set_permission_id("p-1");
    notice.mutable_permission()->set_title("rm -rf build");
    notice.mutable_permission()->set_kind("execute");
    notice.mutable_permission()->mutable_ask_time()->set_seconds(1'769'947'200);
  });
  Tell("permission", [](v1::SessionNotice& notice) {
    notice.mutable_session()->set_open_permissions(1);
    notice.mutable_permission()->set_permission_id("p-1");
    notice.mutable_permission()->set_answered(true);
    notice.mutable_permission()->set_selected_option("yes");
  });
  Tell("permission", [](v1::SessionNotice& notice) {
    notice.mutable_permission()->set_permission_id("p-2");
    notice.mutable_permission()->set_cancelled(true);
  });
  EXPECT_THAT(socket->Types(), ElementsAre("connected", "permission_asked", "permission_answered",
                                           "permission_cancelled"));
  EXPECT_EQ(socket->Message(1)["data"],
            Json::parse(R"({"session_id":"s-1","permission_id":"p-1","title":"rm -rf build",
                            "kind":"execute","asked_at":"2026-02-01T12:00:00.000Z",
                            "status":"open","open_permissions":2})"));
  EXPECT_EQ(socket->Message(2)["data"]["selected_option"], "yes");
  EXPECT_EQ(socket->Message(2)["data"]["open_permissions"], 1);
  EXPECT_EQ(socket->Message(3)["data"]["open_permissions"], 0);
  Leave(socket);
}

TEST_F(SessionNoticesTest, ReportRecordedEvents) {
  const auto socket = Follow();
  Tell("activity", [](v1::SessionNotice& notice) {
    notice.mutable_session()->set_max_seq(17);
    notice.mutable_session()->mutable_update_time()->set_seconds(1'769'947'200);
  });
  EXPECT_EQ(socket->Message(1), Json::parse(R"({"type":"session_activity",
                            "data":{"session_id":"s-1","max_seq":17,
                                    "updated_at":"2026-02-01T12:00:00.000Z"}})"));
  Leave(socket);
}

TEST_F(SessionNoticesTest, SessionIncludesOwnerPauseReasonAndOpenPermissions) {
  client_.On<v1::GetSessionRequest>([](const auto&) -> absl::StatusOr<v1::Session> {
    v1::Session session;
    session.set_session_id("s-1");
    session.set_client_id("agent");
    session.set_pause_reason("rate_limited");
    session.set_open_permissions(3);
    return session;
  });
  const Json session = BodyOf(Ask("GET", "/api/sessions/s-1"));
  EXPECT_EQ(session["client_id"], "agent");
  EXPECT_EQ(session["pause_reason"], "rate_limited");
  EXPECT_EQ(session["open_permissions"], 3);
}

// A viewer names the clients whose sessions it follows; the tracker decides whether it may.
class ViewedSessionNoticesTest : public SessionNoticesTest {
 protected:
  static constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

  ViewedSessionNoticesTest()
      : SessionNoticesTest(std::make_shared<Credentials>(
            std::vector<TokenFile::Entry>{{{"viewer", Role::kViewer}, kToken}})) {}
};

TEST_F(ViewedSessionNoticesTest, QuerySelectsClientsToFollow) {
  const auto all = Connect("/api/events/ws?client=*", kToken);
  const auto one = Connect("/api/events/ws?client=agent", kToken);
  const auto own = Connect("/api/events/ws", kToken);
  std::vector<std::string> owners;
  for (const v1::WatchSessionsRequest& request : client_.global_requests) {
    EXPECT_EQ(request.client_id(), "viewer@viewer");
    owners.push_back(request.owner());
  }
  EXPECT_THAT(owners, ElementsAre("*", "agent", ""));
  client_.global_watches[1]->End(Failure(absl::StatusCode::kPermissionDenied, "not_your_client"));
  Run();
  EXPECT_EQ(one->Message(0)["data"]["error"], "not_your_client");
  EXPECT_TRUE(one->closed);
  for (const auto& socket : {all, own}) Leave(socket);
}

}  // namespace
}  // namespace callslip::gateway
