// The messages that an MCP client gets during a call, before its answer.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;

constexpr char kLegacy[] = "2025-11-25";

class McpStreamTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Submit() {
    return services_.ToolAnswer("interact", {{"action", "get_page"}})["correlation_id"];
  }
  void Deliver() { services_.Get("/pending-queries"); }
  void Report(const std::string& id, const std::string& status) {
    services_.Post("/query-result",
                   json{{"correlation_id", id}, {"status", status}, {"result", 1}}.dump());
  }
  // observe with `meta`, with a wait until the end.
  json WaitFor(const std::string& id, json meta) {
    return client_.Request(
        "tools/call",
        {{"name", "observe"},
         {"arguments", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 30000}}},
         {"_meta", std::move(meta)}});
  }

  TestServices services_;
  McpClient client_{services_.gateway_address(), GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Eras, McpStreamTest, testing::Values(kLegacy, kModern),
                         [](const auto& test) {
                           return test.param == kModern ? "Modern" : "Legacy";
                         });

TEST_P(McpStreamTest, EachStepOfWorkerSendsEvent) {
  for (const json& token : std::vector<json>{"a token", 0}) {
    const std::string id = Submit();
    const json call = WaitFor(id, {{"progressToken", token}});
    HttpStream stream = client_.Open(call);
    EXPECT_EQ(stream.Status(), 200);
    EXPECT_EQ(stream.Header("content-type"), "text/event-stream");
    double progress = 0;
    const auto expect_progress = [&](const std::string& message) {
      const json event = stream.Event();
      EXPECT_EQ(event["method"], "notifications/progress");
      EXPECT_FALSE(event.contains("id"));
      const json params = event.value("params", json::object());
      EXPECT_EQ(params.value("progressToken", json()), token);
      EXPECT_EQ(params.value("message", json()), message);
      EXPECT_GT(params.value("progress", 0.0), progress);
      progress = params.value("progress", 0.0);
    };
    expect_progress("queued");
    Deliver();
    expect_progress("delivered");
    Report(id, "pending");
    expect_progress("running");
    Report(id, "complete");
    const json answer = stream.Event();
    EXPECT_EQ(answer["id"], call["id"]);
    EXPECT_EQ(answer["result"]["structuredContent"]["result"], 1);
    EXPECT_EQ(stream.Event(), nullptr);
  }
}

TEST_P(McpStreamTest, AnswerWithoutProgressTokenIsPlain) {
  // An invalid token requests no progress.
  for (const json& meta : std::vector<json>{json::object(), {{"progressToken", 1.5}}}) {
    const std::string id = Submit();
    HttpStream stream = client_.Open(WaitFor(id, meta));
    services_.AwaitWaits(1);
    Deliver();
    Report(id, "complete");
    EXPECT_EQ(stream.Header("content-type"), "application/json");
    EXPECT_EQ(json::parse(stream.Body())["result"]["structuredContent"]["status"], "complete");
  }
}

TEST_P(McpStreamTest, FastAnswerIsPlain) {
  const std::string id = Submit();
  Deliver();
  Report(id, "complete");
  const auto answer = client_.Send(WaitFor(id, {{"progressToken", 1}}));
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body["result"]["structuredContent"]["result"], 1);
}

TEST_P(McpStreamTest, ClosingStreamEndsWait) {
  HttpStream stream = client_.Open(WaitFor(Submit(), {{"progressToken", 1}}));
  EXPECT_EQ(stream.Event()["method"], "notifications/progress");
  services_.AwaitWaits(1);
  stream.Close();
  services_.AwaitWaits(0);
}

TEST_P(McpStreamTest, StreamIsAnsweredWhenGatewayStops) {
  const json call =
      client_.Request("tools/call", {{"name", "interact"},
                                     {"arguments", {{"action", "get_page"}, {"wait_ms", 30000}}},
                                     {"_meta", {{"progressToken", 1}}}});
  HttpStream stream = client_.Open(call);
  EXPECT_EQ(stream.Event()["method"], "notifications/progress");
  services_.StopGateway();
  const json answer = stream.Event();
  EXPECT_EQ(answer["id"], call["id"]);
  EXPECT_EQ(answer["result"]["structuredContent"]["status"], "queued");
}

TEST_P(McpStreamTest, GatewayCanStopWithoutGrace) {
  HttpStream stream = client_.Open(WaitFor(Submit(), {{"progressToken", 1}}));
  EXPECT_EQ(stream.Event()["method"], "notifications/progress");
  HttpStream plain = client_.Open(WaitFor(Submit(), json::object()));
  services_.AwaitWaits(2);
  services_.StopGateway(/*grace=*/absl::ZeroDuration());
}

// Modern clients close the connection instead.
using LegacyStreamTest = McpStreamTest;
INSTANTIATE_TEST_SUITE_P(Legacy, LegacyStreamTest, testing::Values(kLegacy));

TEST_P(LegacyStreamTest, CancelledStreamEndsWithoutAnswer) {
  const json call = WaitFor(Submit(), {{"progressToken", 1}});
  HttpStream stream = client_.Open(call);
  EXPECT_EQ(stream.Event()["method"], "notifications/progress");
  client_.Send(McpClient::Notification("notifications/cancelled", {{"requestId", call["id"]}}));
  EXPECT_EQ(stream.Event(), nullptr);
  services_.AwaitWaits(0);
}

// Log messages.

TEST(McpLogTest, LegacyClientSetsLogLevelOfItsSession) {
  TestServices services;
  McpClient client(services.gateway_address(), kLegacy);
  const McpClient other(services.gateway_address(), kLegacy);
  const std::string id =
      services.ToolAnswer("interact", {{"action", "get_page"}})["correlation_id"];
  const json call = client.ToolCall(
      "observe", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 30000}});
  for (const json& level : std::vector<json>{"loud", 1, nullptr}) {
    EXPECT_EQ(client.ErrorCode("logging/setLevel", {{"level", level}}), -32602) << level;
  }
  EXPECT_EQ(client.Result("logging/setLevel", {{"level", "info"}}), json::object());
  HttpStream stream = client.Open(call);
  const json event = stream.Event();
  EXPECT_EQ(event["method"], "notifications/message");
  EXPECT_EQ(event["params"], (json{{"level", "info"}, {"logger", id}, {"data", "queued"}}));

  // A session's level is its own, and lines below it are not sent.
  HttpStream silent = other.Open(call);
  services.AwaitWaits(2);
  EXPECT_EQ(client.Result("logging/setLevel", {{"level", "notice"}}), json::object());
  const json second = client.ToolCall(
      "observe", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 30000}});
  HttpStream quiet = client.Open(second);
  services.AwaitWaits(3);
  services.Get("/pending-queries");
  services.Post("/query-result", json{{"correlation_id", id}, {"status", "complete"}}.dump());
  EXPECT_EQ(silent.Header("content-type"), "application/json");
  EXPECT_EQ(quiet.Header("content-type"), "application/json");
}

TEST(McpLogTest, ModernClientSetsLogLevelOfEachRequest) {
  TestServices services;
  McpClient client(services.gateway_address(), kModern);
  const json call =
      client.Request("tools/call", {{"name", "interact"},
                                    {"arguments", {{"action", "get_page"}, {"wait_ms", 30000}}},
                                    {"_meta", {{"io.modelcontextprotocol/logLevel", "debug"}}}});
  HttpStream stream = client.Open(call);
  EXPECT_EQ(stream.Event()["method"], "notifications/message");
}

}  // namespace
}  // namespace callslip
