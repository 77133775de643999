// The agent of a session at the gateway, with the session's token from the runner.
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "callslip/tracker/v1/queue_service.grpc.pb.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/session_events.h"
#include "support/test_services.h"

namespace callslip {
namespace {

namespace v1 = callslip::tracker::v1;
using nlohmann::json;
using ::testing::HasSubstr;

std::optional<TokenFile> FileOfOne() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries.push_back({{"bob", Role::kClient}, std::string(40, 'b')});
  return file;
}

class SessionTokenTest : public testing::TestWithParam<bool> {
 protected:
  SessionTokenTest() {
    const auto channel =
        grpc::CreateChannel(absl::StrCat("unix:", services_.tracker_address().unix_path),
                            grpc::InsecureChannelCredentials());
    runners_ = v1::RunnerService::NewStub(channel);
    sessions_ = v1::SessionService::NewStub(channel);
    queues_ = v1::QueueService::NewStub(channel);
    v1::ServeRequest offer;
    offer.set_runner_id("r");
    offer.set_max_agents(4);
    offer.add_agents()->set_name("claude");
    offer.add_workspaces()->set_name("web");
    offer.mutable_workspaces(0)->set_dir("/web");
    serving_ = runners_->Serve(&serve_, offer);
    v1::Assignment started;
    EXPECT_TRUE(serving_->Read(&started));
    for (const char* id : {"s-1", "s-2"}) {
      grpc::ClientContext call;
      v1::CreateSessionRequest request;
      request.set_client_id("alice");
      request.set_session_id(id);
      request.set_acp_server("claude");
      request.set_working_dir("/web/app");
      v1::Session session;
      EXPECT_TRUE(sessions_->CreateSession(&call, request, &session).ok());
      grpc::ClientContext add;
      v1::AddMessageRequest message;
      message.set_client_id("alice");
      message.set_session_id(id);
      message.set_message("Begin.");
      v1::QueuedMessage added;
      EXPECT_TRUE(queues_->AddMessage(&add, message, &added).ok());
      lease_[id] = NextLease(id);
    }
  }
  ~SessionTokenTest() override {
    serve_.TryCancel();
    serving_->Finish();
  }

  // The lease in the next assignment that needs a runner for that session.
  int64_t NextLease(const std::string& session_id) {
    v1::Assignment next;
    while (serving_->Read(&next)) {
      if (next.has_needed() && next.session().session_id() == session_id) return next.lease();
    }
    ADD_FAILURE() << "the runner was not given " << session_id;
    return 0;
  }

  std::string Issue(const std::string& session_id) {
    grpc::ClientContext call;
    v1::IssueSessionTokenRequest request;
    request.set_client_id("alice");
    request.set_session_id(session_id);
    request.set_lease(lease_[session_id]);
    v1::IssueSessionTokenResponse issued;
    const grpc::Status status = runners_->IssueSessionToken(&call, request, &issued);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return issued.token();
  }

  void End(const std::string& session_id) {
    grpc::ClientContext call;
    v1::EndSessionRequest request;
    request.set_client_id("alice");
    request.set_session_id(session_id);
    v1::Session session;
    EXPECT_TRUE(sessions_->EndSession(&call, request, &session).ok());
  }

  TestServices::Answer Post(const std::string& path, const std::string& token, const json& body,
                            const std::string& mcp_session = "") {
    std::map<std::string, std::string> headers = {{"Authorization", "Bearer " + token}};
    if (!mcp_session.empty()) headers["Mcp-Session-Id"] = mcp_session;
    return services_.Post(path, body.dump(), headers);
  }

  const json initialize_ = {{"jsonrpc", "2.0"},
                            {"id", 0},
                            {"method", "initialize"},
                            {"params", {{"protocolVersion", "2025-11-25"}}}};
  TestServices services_{{}, GetParam() ? FileOfOne() : std::nullopt};
  std::unique_ptr<v1::RunnerService::Stub> runners_;
  std::unique_ptr<v1::SessionService::Stub> sessions_;
  std::unique_ptr<v1::QueueService::Stub> queues_;
  grpc::ClientContext serve_;
  std::unique_ptr<grpc::ClientReader<v1::Assignment>> serving_;
  std::map<std::string, int64_t> lease_;
};

INSTANTIATE_TEST_SUITE_P(AnyGateway, SessionTokenTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "WithTokens" : "Local"; });

TEST_P(SessionTokenTest, AgentReadsItsOwnSessionWithoutNamingIt) {
  const std::string token = Issue("s-1");
  const auto opened = Post("/mcp", token, initialize_);
  ASSERT_EQ(opened.status, 200) << opened.body;
  const json call = {{"jsonrpc", "2.0"},
                     {"id", 1},
                     {"method", "tools/call"},
                     {"params", {{"name", "session"}, {"arguments", {{"what", "read"}}}}}};
  const auto read = Post("/mcp", token, call, opened.header_session_id);
  ASSERT_EQ(read.status, 200) << read.body;
  const json& answer = read.body["result"]["structuredContent"];
  EXPECT_EQ(answer["status"], "complete") << read.body;
  EXPECT_EQ(answer["result"]["events"].size(), 1u) << read.body;
  // Other callers do not have a session as a default.
  const json refused = services_.Post("/mcp", call.dump()).body;
  if (!GetParam()) {
    EXPECT_THAT(refused.dump(), HasSubstr("session_id"));
  }
}

TEST_P(SessionTokenTest, ToolListIsSmallForAgent) {
  const std::string token = Issue("s-1");
  for (const char* version : {"2025-03-26", "2025-06-18", "2025-11-25", kModern}) {
    McpClient agent(services_.gateway_address(), version, token);
    const json result = agent.Result("tools/list");
    EXPECT_LE(result.dump().size() / 4, 1200u) << version;
    const json session = result["tools"].back();
    ASSERT_EQ(session["name"], "session");
    EXPECT_THAT(session["inputSchema"]["properties"]["what"].dump(), HasSubstr("\"new\""));
  }
}

// Three calls: one makes the session, one finds it at work, one reads its answer.
TEST_P(SessionTokenTest, AgentDelegatesWorkToChildSession) {
  const std::string token = Issue("s-1");
  const std::string mcp_session = Post("/mcp", token, initialize_).header_session_id;
  const auto call = [&](const json& arguments) {
    const json request = {{"jsonrpc", "2.0"},
                          {"id", 1},
                          {"method", "tools/call"},
                          {"params", {{"name", "session"}, {"arguments", arguments}}}};
    return Post("/mcp", token, request, mcp_session).body["result"]["structuredContent"];
  };
  const json made = call({{"what", "new"}, {"message", "count"}, {"name", "counter"}});
  EXPECT_EQ(made["status"], "pending") << made;
  const std::string child = made["result"]["session_id"];
  const int64_t lease = NextLease(child);

  grpc::ClientContext receive;
  v1::ReceiveMessagesRequest receiver;
  receiver.set_client_id("alice");
  receiver.set_session_id(child);
  receiver.set_lease(lease);
  const auto messages = queues_->ReceiveMessages(&receive, receiver);
  v1::ReceivedMessage message;
  ASSERT_TRUE(messages->Read(&message));
  EXPECT_EQ(message.message().message(), "count");
  {
    grpc::ClientContext context;
    v1::StartTurnRequest start;
    start.set_client_id("alice");
    start.set_session_id(child);
    start.set_lease(lease);
    start.set_turn_id(message.turn_id());
    v1::StartTurnResponse started;
    ASSERT_TRUE(queues_->StartTurn(&context, start, &started).ok());
  }
  const json waiting = call({{"what", "wait"}, {"session_id", child}, {"wait_ms", 0}});
  EXPECT_EQ(waiting["final"], false) << waiting;
  {
    grpc::ClientContext context;
    v1::AppendEventsRequest append;
    append.set_client_id("alice");
    append.set_session_id(child);
    *append.add_events() = v1::MakeMessage("one, two");
    v1::AppendEventsResponse appended;
    ASSERT_TRUE(sessions_->AppendEvents(&context, append, &appended).ok());
  }
  {
    grpc::ClientContext context;
    v1::FinishTurnRequest finish;
    finish.set_client_id("alice");
    finish.set_session_id(child);
    finish.set_lease(lease);
    finish.set_turn_id(message.turn_id());
    finish.set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
    v1::QueueStatus status;
    ASSERT_TRUE(queues_->FinishTurn(&context, finish, &status).ok());
  }
  const json answer = call({{"what", "answer"}, {"session_id", child}, {"wait_ms", 30'000}});
  EXPECT_EQ(answer["status"], "complete") << answer;
  EXPECT_EQ(answer["result"]["text"], "one, two");
  EXPECT_EQ(answer["result"]["outcome"], "completed");
  // The cost of the three answers besides the text.
  EXPECT_LE((made.dump().size() + waiting.dump().size() + answer.dump().size()) * 2 / 4, 600u);

  EXPECT_EQ(call({{"what", "wait"}, {"session_id", "s-1"}})["error"], "waits_for_itself");
  EXPECT_EQ(call({{"what", "end"}, {"session_id", "s-2"}})["error"], "not_a_child");
  EXPECT_EQ(call({{"what", "answer"}, {"session_id", "s-9"}})["error"], "unknown_session");
  EXPECT_EQ(call({{"what", "end"}, {"session_id", child}})["status"], "complete");
  receive.TryCancel();
  messages->Finish();
}

TEST_P(SessionTokenTest, AgentCanHaveEightChildren) {
  const std::string token = Issue("s-1");
  const std::string mcp_session = Post("/mcp", token, initialize_).header_session_id;
  const json request = {
      {"jsonrpc", "2.0"},
      {"id", 1},
      {"method", "tools/call"},
      {"params", {{"name", "session"}, {"arguments", {{"what", "new"}, {"message", "m"}}}}}};
  const auto make = [&] {
    return Post("/mcp", token, request, mcp_session).body["result"]["structuredContent"];
  };
  for (int i = 0; i < 8; ++i) EXPECT_EQ(make()["status"], "pending");
  EXPECT_EQ(make()["error"], "too_many_children");
}

TEST_P(SessionTokenTest, IsRefusedOutsideMcp) {
  const auto refused = Post("/api/sessions", Issue("s-1"), json::object());
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body["error"], "session_token_elsewhere");
}

TEST_P(SessionTokenTest, EndsWithItsSessionOrWithNextToken) {
  const std::string of_ended = Issue("s-2");
  End("s-2");
  const std::string replaced = Issue("s-1");
  const std::string token = Issue("s-1");
  for (const std::string& old : {of_ended, replaced}) {
    const auto refused = Post("/mcp", old, initialize_);
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.body["error"], "token_unknown");
  }
  EXPECT_EQ(Post("/mcp", token, initialize_).status, 200);
}

}  // namespace
}  // namespace callslip
