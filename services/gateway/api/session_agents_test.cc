// Runners, and the agents of sessions, over REST.
#include <string>
#include <vector>

#include "gateway/api/session_api_fixture.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionAgentsTest : public SessionApiTest {
 protected:
  SessionAgentsTest() {
    client_.On<v1::ListRunnersRequest>(
        [this](const auto&) -> absl::StatusOr<v1::ListRunnersResponse> { return runners_; });
    client_.On<v1::ControlAgentRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::AgentState> {
          controls_.push_back(request);
          if (!refusal_.ok()) return refusal_;
          v1::AgentState state;
          state.set_status(v1::AGENT_STATUS_IDLE);
          return state;
        });
    client_.On<v1::CreateSessionRequest>([](const auto& request) -> absl::StatusOr<v1::Session> {
      v1::Session session;
      session.set_session_id("s-9");
      session.set_acp_server(request.acp_server());
      return session;
    });
  }

  v1::ListRunnersResponse runners_;
  std::vector<v1::ControlAgentRequest> controls_;
  absl::Status refusal_;
};

constexpr char kTwoRunners[] = R"(
    runners {
      runner_id: "a" max_agents: 2 connected: true running_agents: 1 sessions: 3
      agents { name: "claude" problem: "its command is missing" } agents { name: "codex" }
      workspaces { name: "web" dir: "/web" }
    }
    runners {
      runner_id: "b" max_agents: 1 connected: true
      agents { name: "claude" title: "Claude" }
      workspaces { name: "web" dir: "/web" agents: "claude" } workspaces { name: "lib" dir: "/lib" }
    }
    runners { runner_id: "gone" agents { name: "gemini" } workspaces { name: "x" dir: "/x" } })";

TEST_F(SessionAgentsTest, ListsRunnersWithAgentsAndWorkspaces) {
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kTwoRunners, &runners_));
  const Json runners = BodyOf(Ask("GET", "/api/runners"))["runners"];
  ASSERT_THAT(runners, SizeIs(3));
  EXPECT_EQ(runners[0]["runner_id"], "a");
  EXPECT_EQ(runners[0]["running_agents"], 1);
  EXPECT_EQ(runners[0]["sessions"], 3);
  EXPECT_EQ(runners[0]["agents"][0]["problem"], "its command is missing");
  EXPECT_EQ(runners[2]["connected"], false);

  EXPECT_EQ(BodyOf(Ask("GET", "/api/agents")), Json::parse(R"({"agents": [
      {"name": "claude", "title": "Claude", "runner_ids": ["a", "b"]},
      {"name": "codex", "runner_ids": ["a"]}]})"));
  EXPECT_EQ(BodyOf(Ask("GET", "/api/workspaces")), Json::parse(R"({"workspaces": [
      {"name": "lib", "dir": "/lib", "agents": ["claude"], "runner_ids": ["b"]},
      {"name": "web", "dir": "/web", "agents": ["claude", "codex"], "runner_ids": ["a", "b"]}]})"));
}

TEST_F(SessionAgentsTest, AgentThatNoRunnerCanStartShowsItsProblem) {
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(runners { runner_id: "a" connected: true agents { name: "x" problem: "missing" } })",
      &runners_));
  EXPECT_EQ(BodyOf(Ask("GET", "/api/agents"))["agents"][0]["problem"], "missing");
}

TEST_F(SessionAgentsTest, SendsActionsToAgent) {
  for (const char* action : {"start", "stop", "restart", "fresh"}) {
    const HttpResponse response =
        Ask("POST", "/api/sessions/s-1/agent", std::string(R"({"action":")") + action + "\"}");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(BodyOf(response)["status"], "idle");
  }
  std::vector<v1::AgentAction> actions;
  for (const auto& control : controls_) {
    EXPECT_EQ(control.session_id(), "s-1");
    EXPECT_EQ(control.client_id(), "local");
    actions.push_back(control.control().action());
  }
  EXPECT_THAT(actions, ElementsAre(v1::AGENT_ACTION_START, v1::AGENT_ACTION_STOP,
                                   v1::AGENT_ACTION_RESTART, v1::AGENT_ACTION_FRESH));
}

TEST_F(SessionAgentsTest, SetsModesAndOptions) {
  EXPECT_EQ(Ask("POST", "/api/sessions/s-1/config", R"({"mode_id":"plan"})").status, 200);
  EXPECT_EQ(Ask("POST", "/api/sessions/s-1/config", R"({"option_id":"o","value":"v"})").status,
            200);
  ASSERT_THAT(controls_, SizeIs(2));
  EXPECT_EQ(controls_[0].control().mode_id(), "plan");
  EXPECT_EQ(controls_[1].control().config_option().id(), "o");
  EXPECT_EQ(controls_[1].control().config_option().value(), "v");
  EXPECT_EQ(client_.DeadlineOf<v1::ControlAgentRequest>(), absl::Seconds(9));
}

TEST_F(SessionAgentsTest, RefusesInvalidControls) {
  for (const char* body : {"", R"({"action":"jump"})"}) {
    EXPECT_EQ(Ask("POST", "/api/sessions/s-1/agent", body).status, 400) << body;
  }
  for (const char* body :
       {"", R"({"option_id":"o"})", R"({"mode_id":"m","option_id":"o","value":"v"})"}) {
    EXPECT_EQ(Ask("POST", "/api/sessions/s-1/config", body).status, 400) << body;
  }
  EXPECT_THAT(controls_, IsEmpty());
}

TEST_F(SessionAgentsTest, ReportsWhyActionFailed) {
  refusal_ = Failure(absl::StatusCode::kFailedPrecondition, "no_runner");
  const HttpResponse response = Ask("POST", "/api/sessions/s-1/agent", R"({"action":"start"})");
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(BodyOf(response)["error"], "no_runner");
}

TEST_F(SessionAgentsTest, NewSessionStartsItsAgentUnlessDisabled) {
  EXPECT_EQ(Ask("POST", "/api/sessions", R"({"acp_server":"claude","start":false})").status, 201);
  EXPECT_EQ(Ask("POST", "/api/sessions", "{}").status, 201);
  EXPECT_THAT(controls_, IsEmpty());
  refusal_ = Failure(absl::StatusCode::kFailedPrecondition, "no_runner");
  EXPECT_EQ(Ask("POST", "/api/sessions", R"({"acp_server":"claude"})").status, 201);
  ASSERT_THAT(controls_, SizeIs(1));
  EXPECT_EQ(controls_[0].session_id(), "s-9");
  EXPECT_EQ(controls_[0].control().action(), v1::AGENT_ACTION_START);
  EXPECT_EQ(client_.DeadlineOf<v1::ControlAgentRequest>(), absl::Seconds(9));
}

}  // namespace
}  // namespace callslip::gateway
