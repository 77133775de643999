// Sessions that an agent creates: the session tool with a fake tracker.
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/mcp/tools/session_answer.h"
#include "gateway/mcp/tools/session_tool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_calls.h"
#include "support/session_events.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The agent of the session `own`; an agent without a session if that is empty.
class AgentContext final : public CallContext {
 public:
  Era era() const override { return Era::kModern; }
  const Principal& principal() const override { return principal_; }
  const Json& client_capabilities() const override { return nothing_; }
  bool as_task() const override { return false; }
  std::string session_id() const override { return own; }
  TraceContext trace() const override { return {}; }
  const Json& params() const override { return nothing_; }
  bool listens() const override { return false; }
  void NotifyProgress(double, std::optional<double>, const std::string&) override {}
  void NotifyLog(const std::string&, const std::string&, Json) override {}
  void Notify(const std::string&, Json) override {}
  boost::asio::awaitable<RpcOutcome> Request(std::string, Json) override { co_return Json(); }

  std::string own = "parent";

 private:
  const Principal principal_{.name = "alice", .role = Role::kClient};
  const Json nothing_;
};

v1::SessionEvent Said(const std::string& text, const std::string& message_id) {
  return v1::MakeEvent("agent_message", {{"text", text}, {"message_id", message_id}});
}

v1::SessionEvent Asked(const std::string& text) {
  return v1::MakeEvent("user_prompt", {{"message", text}});
}

v1::SessionEvent TurnEnd(const std::string& data) {
  return v1::MakeEvent("turn_end", Json::parse(data));
}

class SessionChildrenTest : public testing::Test {
 protected:
  SessionChildrenTest()
      : client_(io_.get_executor()),
        hub_(std::make_shared<SessionHub>(io_.get_executor(), &client_,
                                          std::make_shared<ByteBudget>(32 << 20, 16 << 20))),
        tool_(&client_, hub_, &clock_),
        context_(std::make_shared<AgentContext>()) {
    // top ─ parent ─ child; `other` belongs to none of them.
    client_.On<v1::GetSessionRequest>([](const auto& request) -> absl::StatusOr<v1::Session> {
      v1::Session session;
      session.set_session_id(request.session_id());
      session.set_acp_server("claude");
      session.set_working_dir("/web/app");
      if (request.session_id() == "parent") session.set_parent_session_id("top");
      if (request.session_id() == "child") session.set_parent_session_id("parent");
      return session;
    });
    client_.On<v1::GetQueueStatusRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::QueueStatus> {
          v1::QueueStatus status;
          if (request.session_id() == busy_) status.set_turn_id("turn-1");
          return status;
        });
    client_.On<v1::ListRunnersRequest>([](const auto&) -> absl::StatusOr<v1::ListRunnersResponse> {
      v1::ListRunnersResponse listed;
      v1::Runner& runner = *listed.add_runners();
      runner.set_connected(true);
      runner.add_agents()->set_name("claude");
      runner.add_agents()->set_name("codex");
      runner.add_agents()->set_name("broken");
      runner.mutable_agents(2)->set_problem("its command is missing");
      runner.add_workspaces()->set_name("web");
      runner.mutable_workspaces(0)->set_dir("/web");
      runner.add_workspaces()->set_name("lib");
      runner.mutable_workspaces(1)->set_dir("/lib");
      return listed;
    });
    client_.On<v1::CreateSessionRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::Session> {
          created_.push_back(request);
          v1::Session session;
          session.set_session_id("made");
          return session;
        });
    client_.On<v1::AddMessageRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::QueuedMessage> {
          added_.push_back(request);
          return v1::QueuedMessage();
        });
    client_.On<v1::ReadEventsRequest>(
        [this](const auto&) -> absl::StatusOr<v1::ReadEventsResponse> {
          v1::ReadEventsResponse page;
          for (const v1::SessionEvent& event : events_) *page.add_events() = event;
          return page;
        });
    client_.On<v1::ListPermissionsRequest>(
        [](const auto&) -> absl::StatusOr<v1::ListPermissionsResponse> {
          v1::ListPermissionsResponse listed;
          v1::Permission& permission = *listed.add_permissions();
          permission.set_permission_id("p-1");
          for (const char* kind : {"allow_once", "reject_once"}) {
            v1::Permission::Option& option = *permission.add_options();
            option.set_option_id(kind);
            option.set_kind(kind);
          }
          return listed;
        });
  }

  // The structured answer of a call that ends without any event.
  Json Call(const Json& arguments) {
    result_.reset();
    boost::asio::co_spawn(io_, tool_.Call(context_, arguments),
                          [this](const std::exception_ptr& error, ToolResult result) {
                            EXPECT_EQ(error, nullptr);
                            result_ = std::get<Json>(std::move(result.result));
                          });
    Run();
    return result_.has_value() ? (*result_)["structuredContent"] : Json();
  }
  std::string ErrorOf(const Json& arguments) { return Call(arguments).value("error", ""); }

  void Run() {
    io_.restart();
    io_.poll();
  }

  FakeClock clock_;
  boost::asio::io_context io_;
  FakeTrackerCalls client_;
  const std::shared_ptr<SessionHub> hub_;
  const SessionTool tool_;
  const std::shared_ptr<AgentContext> context_;
  std::string busy_;  // The session that is in a turn.
  std::vector<v1::SessionEvent> events_;
  std::vector<v1::CreateSessionRequest> created_;
  std::vector<v1::AddMessageRequest> added_;
  std::optional<Json> result_;
};

TEST_F(SessionChildrenTest, ListsAgents) {
  const Json result = Call({{"what", "agents"}})["result"];
  EXPECT_EQ(result["agents"][2]["name"], "codex");
  EXPECT_EQ(result["agents"][0]["problem"], "its command is missing");
  EXPECT_EQ(result["workspaces"][1]["dir"], "/web");
  EXPECT_FALSE(result["agents"][0].contains("runner_ids"));
}

TEST_F(SessionChildrenTest, ChildInheritsFromParentByDefault) {
  events_ = {Asked("do"), Said("do", ""), Said("ne", ""), TurnEnd(R"({"outcome":"completed"})")};
  const Json answer = Call({{"what", "new"}, {"message", "do"}});
  EXPECT_EQ(answer["status"], "complete");
  EXPECT_EQ(answer["result"]["session_id"], "made");
  EXPECT_EQ(answer["result"]["text"], "done");
  EXPECT_EQ(answer["result"]["outcome"], "completed");
  Call({{"what", "new"},
        {"message", "do"},
        {"agent", "codex"},
        {"workspace", "lib"},
        {"name", "n"},
        {"detach", true}});
  // In the parent's workspace the child has the parent's directory.
  Call({{"what", "new"}, {"message", "do"}, {"workspace", "web"}});
  ASSERT_EQ(created_.size(), 3u);
  EXPECT_EQ(created_[2].working_dir(), "/web/app");
  EXPECT_EQ(created_[0].client_id(), "alice");
  EXPECT_EQ(created_[0].parent_session_id(), "parent");
  EXPECT_EQ(created_[0].acp_server(), "claude");
  EXPECT_EQ(created_[0].working_dir(), "/web/app");
  EXPECT_FALSE(created_[0].detached());
  EXPECT_EQ(created_[1].acp_server(), "codex");
  EXPECT_EQ(created_[1].working_dir(), "/lib");
  EXPECT_EQ(created_[1].name(), "n");
  EXPECT_TRUE(created_[1].detached());
  EXPECT_EQ(created_[0].by_session_id(), "parent");
  EXPECT_EQ(added_[0].by_session_id(), "parent");
  EXPECT_EQ(added_[0].message(), "do");
}

TEST_F(SessionChildrenTest, UnavailableAgentsAndWorkspacesAreRefused) {
  EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}, {"agent", "gemini"}}), "unknown_agent");
  EXPECT_THAT(result_->dump(), HasSubstr("broken, claude, codex"));
  EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}, {"agent", "broken"}}), "unknown_agent");
  EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}, {"workspace", "x"}}), "unknown_workspace");
  EXPECT_EQ(ErrorOf({{"what", "new"}}), "invalid_arguments");
  context_->own = "";  // No parent gives the agent, and there are several.
  EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}}), "unknown_agent");
  EXPECT_TRUE(created_.empty());
}

TEST_F(SessionChildrenTest, SessionIsDeletedIfItsMessageIsRefused) {
  std::vector<std::string> deleted;
  client_.On<v1::AddMessageRequest>([](const auto&) -> absl::StatusOr<v1::QueuedMessage> {
    return ErrorWithDetails(absl::StatusCode::kInvalidArgument, "long",
                            {.reason = "invalid_argument", .hint = ""});
  });
  client_.On<v1::DeleteSessionRequest>(
      [&](const auto& request) -> absl::StatusOr<v1::DeleteSessionResponse> {
        deleted.push_back(request.session_id());
        return v1::DeleteSessionResponse();
      });
  EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}}), "invalid_argument");
  EXPECT_THAT(deleted, ElementsAre("made"));
}

TEST_F(SessionChildrenTest, ErrorOfTrackerIsPassedOn) {
  for (const char* reason : {"too_deep", "too_many_children"}) {
    client_.On<v1::CreateSessionRequest>([reason](const auto&) -> absl::StatusOr<v1::Session> {
      return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, "no",
                              {.reason = reason, .hint = "End one."});
    });
    EXPECT_EQ(ErrorOf({{"what", "new"}, {"message", "m"}}), reason);
    EXPECT_TRUE(added_.empty());
  }
}

TEST_F(SessionChildrenTest, SessionCannotWaitForItselfOrItsAncestors) {
  for (const char* id : {"parent", "top"}) {
    EXPECT_EQ(ErrorOf({{"what", "wait"}, {"session_id", id}}), "waits_for_itself") << id;
    EXPECT_EQ(ErrorOf({{"what", "wait"}, {"session_ids", {"child", id}}}), "waits_for_itself");
    EXPECT_EQ(ErrorOf({{"what", "answer"}, {"session_id", id}, {"wait_ms", 9}}),
              "waits_for_itself");
    EXPECT_EQ(ErrorOf({{"what", "answer"}, {"session_id", id}}), "");
  }
  EXPECT_EQ(Call({{"what", "wait"}, {"session_id", "child"}})["status"], "complete");
  EXPECT_EQ(Call({{"what", "wait"}, {"session_id", "other"}})["status"], "complete");
}

TEST_F(SessionChildrenTest, WaitsForAllSessionsOrAny) {
  busy_ = "child";
  Json both = {{"what", "wait"}, {"session_ids", {"child", "other"}}, {"wait_ms", 0}};
  // The hub reports once, for all sessions together, that its watch has begun.
  const auto call = [&] {
    result_.reset();
    Call(both);
    if (!result_.has_value()) {
      v1::SessionNotice started;
      started.set_action("started");
      client_.global_watches.back()->Push(started);
      Run();
    }
    return (*result_)["structuredContent"];
  };
  const Json pending = call();
  EXPECT_EQ(pending["status"], "pending");
  EXPECT_EQ(pending["result"]["sessions"][0]["ended"], false);
  EXPECT_EQ(pending["result"]["sessions"][1]["ended"], true);
  both["any"] = true;
  EXPECT_EQ(call()["status"], "complete");
  both["any"] = false;
  busy_ = "";
  EXPECT_EQ(call()["status"], "complete");
}

TEST_F(SessionChildrenTest, WaitRequiresFewDistinctSessions) {
  std::vector<std::string> nine;
  for (int i = 0; i < 9; ++i) nine.push_back(std::to_string(i));
  for (const Json& ids : {Json(nine), Json::array(), Json({"a", "a"}), Json({""})}) {
    EXPECT_EQ(ErrorOf({{"what", "wait"}, {"session_ids", ids}}), "invalid_arguments") << ids;
  }
}

// The tracker decides what the caller may do, so it must know the caller's session.
TEST_F(SessionChildrenTest, CallsNameSessionOfCaller) {
  std::vector<std::string> done;
  client_.On<v1::StopTurnRequest>([&](const auto& request) -> absl::StatusOr<v1::QueueStatus> {
    done.push_back("stop " + request.session_id() + " by " + request.by_session_id());
    return v1::QueueStatus();
  });
  client_.On<v1::EndSessionRequest>([&](const auto& request) -> absl::StatusOr<v1::Session> {
    done.push_back("end " + request.session_id() + " by " + request.by_session_id());
    return v1::Session();
  });
  client_.On<v1::AnswerPermissionRequest>(
      [&](const auto& request) -> absl::StatusOr<v1::Permission> {
        done.push_back(request.decided_by() + " " + request.option_id() + " by " +
                       request.by_session_id());
        return v1::Permission();
      });
  for (const char* own : {"parent", ""}) {
    context_->own = own;
    Call({{"what", "stop"}, {"session_id", "child"}});
    Call({{"what", "end"}, {"session_id", "child"}});
    Call({{"what", "permit"},
          {"session_id", "child"},
          {"permission_id", "p-1"},
          {"option_id", "allow_once"}});
    Call({{"what", "enqueue"}, {"session_id", "child"}, {"message", "m"}});
    EXPECT_EQ(added_.back().by_session_id(), own);
  }
  EXPECT_THAT(
      done, ElementsAre("stop child by parent", "end child by parent", "agent allow_once by parent",
                        "stop child by ", "end child by ", "agent allow_once by "));
}

TEST_F(SessionChildrenTest, UnfinishedAnswerListsOpenPermissions) {
  busy_ = "child";
  events_ = {Asked("a"), Said("so far", "")};
  const Json answer = Call({{"what", "answer"}, {"session_id", "child"}});
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["final"], false);
  EXPECT_EQ(answer["result"]["text"], "so far");
  EXPECT_EQ(answer["result"]["permissions"][0]["permission_id"], "p-1");
}

TEST(LastAnswerTest, IsOnlyOfLastTurn) {
  const auto call = [](const char* kind, const char* locations) {
    return v1::MakeEvent("tool_call", {{"kind", kind}, {"locations", Json::parse(locations)}});
  };
  const v1::SessionEvent edit = call("edit", R"([{"path":"/web/b"},{"line":1}])");
  const v1::SessionEvent look = call("read", R"([{"path":"/web/c"}])");
  const v1::SessionEvent write = v1::MakeEvent("file_write", {{"path", "/web/a"}});
  const Json answer =
      LastAnswerJson({Asked("1"), Said("old", ""), write, TurnEnd(R"({"outcome":"failed"})"),
                      Asked("2"), Said("He", "m"), Said("llo.", "m"), edit, look,
                      Said("Done.", "m"), Said("Bye.", "n"), TurnEnd(R"({"outcome":"completed"})")},
                     1000);
  EXPECT_EQ(answer, Json::parse(R"({"text": "Hello.\n\nDone.\n\nBye.", "outcome": "completed",
                                    "files": ["/web/b"]})"));
  EXPECT_EQ(LastAnswerJson({Asked("1")}, 9), Json::parse(R"({"text": ""})"));
}

TEST(LastAnswerTest, TruncatesStartAtCharacterBoundary) {
  const Json answer = LastAnswerJson({Said("aüb", "")}, 2);
  EXPECT_EQ(answer["text"], "b");
  EXPECT_EQ(answer["omitted_bytes"], 3);
}

}  // namespace
}  // namespace callslip::gateway
