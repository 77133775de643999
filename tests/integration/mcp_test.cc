// The MCP endpoint as a transport: versions, sessions, batches, headers, and invalid requests.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::vector<std::string> kLegacyVersions = {"2025-03-26", "2025-06-18", "2025-11-25"};

class McpTest : public testing::Test {
 protected:
  McpClient Client(const std::string& version) { return {services_.gateway_address(), version}; }

  // A queued command of the only client at a gateway without tokens.
  std::string Submit() {
    return services_.ToolAnswer("interact", {{"action", "get_page"}})["correlation_id"];
  }
  static json WaitFor(const std::string& id) {
    return {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 30000}};
  }
  void Complete(const std::string& id, const json& result) {
    services_.Get("/pending-queries");
    services_.Post("/query-result",
                   json{{"correlation_id", id}, {"status", "complete"}, {"result", result}}.dump());
  }

  TestServices services_;
};

void ExpectErrorWithoutId(const McpClient::Answer& answer, int status, int code) {
  EXPECT_EQ(answer.status, status) << answer.text;
  EXPECT_EQ(answer.body["error"]["code"], code) << answer.text;
  EXPECT_FALSE(answer.body.contains("id")) << answer.text;
}

void ExpectError(const McpClient::Answer& answer, int status, int code, const json& id) {
  EXPECT_EQ(answer.status, status) << answer.text;
  EXPECT_EQ(answer.body["error"]["code"], code) << answer.text;
  EXPECT_EQ(answer.body["id"], id) << answer.text;
}

// Versions.

TEST_F(McpTest, LegacyClientGetsRequestedOrNewestLegacyVersion) {
  for (const auto& [asked, got] :
       std::vector<std::pair<std::string, std::string>>{{"2025-03-26", "2025-03-26"},
                                                        {"2025-06-18", "2025-06-18"},
                                                        {"2025-11-25", "2025-11-25"},
                                                        {"2024-11-05", "2025-11-25"},
                                                        {"2026-07-28", "2025-11-25"},
                                                        {"", "2025-11-25"}}) {
    const auto answer = services_.Post("/mcp",
                                       json{{"jsonrpc", "2.0"},
                                            {"id", 0},
                                            {"method", "initialize"},
                                            {"params", {{"protocolVersion", asked}}}}
                                           .dump(),
                                       {});
    EXPECT_EQ(answer.status, 200);
    const json& result = answer.body["result"];
    EXPECT_EQ(result["protocolVersion"], got) << asked;
    EXPECT_EQ(result["serverInfo"]["name"], "callslip");
    EXPECT_TRUE(result["capabilities"]["tasks"]["requests"]["tools"].contains("call"));
    EXPECT_FALSE(result.contains("resultType"));
    EXPECT_FALSE(answer.header_session_id.empty());
  }
}

TEST_F(McpTest, InitializeWithoutVersionOpensNoSession) {
  const auto answer =
      services_.Post("/mcp", R"({"jsonrpc":"2.0","id":0,"method":"initialize"})", {});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["error"]["code"], -32602);
  EXPECT_TRUE(answer.header_session_id.empty());
}

TEST_F(McpTest, ModernClientDiscoversServer) {
  McpClient client = Client(kModern);
  const json result = client.Result("server/discover");
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_THAT(result["supportedVersions"],
              ElementsAre("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"));
  EXPECT_TRUE(result["capabilities"]["extensions"].contains("io.modelcontextprotocol/tasks"));
  EXPECT_FALSE(result["capabilities"].contains("tasks"));
  EXPECT_TRUE(result["instructions"].is_string());
  EXPECT_TRUE(result["ttlMs"].is_number_integer());
  EXPECT_EQ(result["cacheScope"], "public");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "callslip");
}

TEST_F(McpTest, EveryModernResultHasItsType) {
  McpClient client = Client(kModern);
  for (const char* method : {"tools/list", "resources/list", "resources/templates/list"}) {
    const json result = client.Result(method);
    EXPECT_EQ(result["resultType"], "complete") << method;
    EXPECT_TRUE(result.contains("ttlMs") && result.contains("cacheScope")) << method;
  }
  EXPECT_EQ(client.CallTool("observe", {{"what", "pending_commands"}})["resultType"], "complete");
}

TEST_F(McpTest, EachEraHasItsMethods) {
  McpClient modern = Client(kModern);
  for (const char* method : {"initialize", "ping", "logging/setLevel", "tasks/list", "tasks/result",
                             "resources/subscribe", "prompts/list", "no/such"}) {
    const json request = modern.Request(method, {{"taskId", "x"}});
    ExpectError(modern.Send(request), 404, -32601, request["id"]);
  }
  for (const std::string& version : kLegacyVersions) {
    McpClient legacy = Client(version);
    for (const char* method : {"server/discover", "tasks/update", "subscriptions/listen",
                               "resources/subscribe", "prompts/list", "no/such", "initialized"}) {
      const json request = legacy.Request(method);
      ExpectError(legacy.Send(request), 200, -32601, request["id"]);
    }
    EXPECT_EQ(legacy.ErrorCode("tasks/list"), version == "2025-11-25" ? 0 : -32601);
    EXPECT_EQ(legacy.Result("ping"), json::object());
  }
}

TEST_F(McpTest, ThereIsNoGetStream) {
  const auto answer = services_.Get("/mcp");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header_allow, "DELETE, POST");
}

// Sessions.

TEST_F(McpTest, SessionIsRequiredAndCanBeEnded) {
  McpClient client = Client("2025-11-25");
  const json ping = client.Request("ping");
  const std::string id = client.session_id();
  EXPECT_EQ(client.Send(ping).status, 200);

  std::string garbled = id;
  garbled[id.size() / 2] = garbled[id.size() / 2] == 'A' ? 'B' : 'A';
  for (const std::string& unknown :
       {garbled, id + "x", std::string("x"), std::string(10'000, 'x')}) {
    client.headers["Mcp-Session-Id"] = unknown;
    ExpectErrorWithoutId(client.Send(ping), 404, -32001);
    EXPECT_EQ(client.OpenRaw("DELETE", {}, "").Status(), 404);
  }
  client.headers["Mcp-Session-Id"] = "";
  ExpectErrorWithoutId(client.Send(ping), 400, -32000);
  EXPECT_EQ(client.OpenRaw("DELETE", {}, "").Status(), 400);

  client.headers["Mcp-Session-Id"] = id;
  EXPECT_EQ(client.OpenRaw("DELETE", {}, "").Status(), 204);
  ExpectErrorWithoutId(client.Send(ping), 404, -32001);
  EXPECT_EQ(client.OpenRaw("DELETE", {}, "").Status(), 404);
}

TEST_F(McpTest, EndOfSessionEndsItsRequests) {
  McpClient client = Client("2025-11-25");
  HttpStream waiting = client.Open(client.ToolCall("observe", WaitFor(Submit())));
  services_.AwaitWaits(1);
  client.headers["Mcp-Session-Id"] = client.session_id();
  EXPECT_EQ(client.OpenRaw("DELETE", {}, "").Status(), 204);
  EXPECT_EQ(waiting.Status(), 202);
  EXPECT_EQ(waiting.Body(), "");
  services_.AwaitWaits(0);
}

TEST_F(McpTest, SessionOutlivesItsGateway) {
  McpClient client = Client("2025-06-18");
  gateway::GatewayServer second(
      {.listen = {{.host = "127.0.0.1", .port = 0}}, .tracker = {services_.tracker_address()}});
  const Address address = second.Start()->front();
  services_.StopGateway();
  McpClient heir(address, kModern);
  const auto answer = heir.OpenRaw("POST",
                                   {{"Mcp-Session-Id", client.session_id()},
                                    {"MCP-Protocol-Version", "2025-06-18"}},
                                   client.Request("ping").dump())
                          .Status();
  EXPECT_EQ(answer, 200);
}

// Batches.

json Ping(const json& id) { return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}}; }

TEST_F(McpTest, BatchIsAnsweredByArrayInSameOrder) {
  McpClient client = Client("2025-03-26");
  const auto answer =
      client.Send(json::array({Ping("a"),
                               McpClient::Notification("notifications/x"),
                               1,
                               Ping(nullptr),
                               Ping(2),
                               Ping("a"),
                               {{"jsonrpc", "2.0"}, {"id", 3}, {"method", "no/such"}}}));
  EXPECT_EQ(answer.status, 200);
  ASSERT_EQ(answer.body.size(), 6u) << answer.text;
  EXPECT_EQ(answer.body[0], (json{{"jsonrpc", "2.0"}, {"id", "a"}, {"result", json::object()}}));
  for (const int i : {1, 2, 4}) {
    EXPECT_EQ(answer.body[i]["error"]["code"], -32600) << i;
    EXPECT_FALSE(answer.body[i].contains("id")) << i;
  }
  EXPECT_EQ(answer.body[3]["id"], 2);
  EXPECT_EQ(answer.body[5]["error"]["code"], -32601);
}

TEST_F(McpTest, BatchOfNotificationsIsAccepted) {
  McpClient client = Client("2025-03-26");
  const auto answer = client.Send(
      json::array({McpClient::Notification("notifications/initialized"),
                   McpClient::Notification("notifications/cancelled", {{"requestId", 7}})}));
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.text, "");
}

TEST_F(McpTest, EmptyAndHugeBatchesAreRefused) {
  McpClient client = Client("2025-03-26");
  ExpectErrorWithoutId(client.Send(json::array()), 400, -32600);
  ExpectErrorWithoutId(client.Send(json(101, Ping(1))), 400, -32600);
}

TEST_F(McpTest, OtherVersionsHaveNoBatches) {
  for (const char* version : {"2025-06-18", "2025-11-25", kModern}) {
    McpClient client = Client(version);
    const auto answer = client.Send(json::array({Ping(1)}));
    EXPECT_EQ(answer.status, 400) << version;
    EXPECT_FALSE(answer.body.contains("id")) << version;
  }
  ExpectErrorWithoutId(Client("2025-11-25").Send(json::array({Ping(1)})), 400, -32600);
}

TEST_F(McpTest, BatchItemsWaitConcurrently) {
  McpClient client = Client("2025-03-26");
  const std::string first = Submit();
  const std::string second = Submit();
  HttpStream batch = client.Open(json::array(
      {client.ToolCall("observe", WaitFor(first)), client.ToolCall("observe", WaitFor(second))}));
  services_.AwaitWaits(2);
  Complete(second, 2);
  Complete(first, 1);
  const json answers = json::parse(batch.Body());
  EXPECT_EQ(answers[0]["result"]["structuredContent"]["result"], 1);
  EXPECT_EQ(answers[1]["result"]["structuredContent"]["result"], 2);
}

TEST_F(McpTest, BatchAnswersBeyondSizeLimitAreErrors) {
  McpClient client = Client("2025-03-26");
  const std::string large = Submit();
  const std::string open = Submit();
  Complete(large, std::string(4 << 20, 'x'));
  json batch = json::array();
  batch.push_back(client.ToolCall("observe", WaitFor(open)));
  for (int i = 0; i < 8; ++i) {
    batch.push_back(client.Request("resources/read", {{"uri", "callslip://result/" + large}}));
  }
  HttpStream held = client.Open(batch);
  services_.AwaitWaits(1);
  Complete(open, 1);
  const auto refused_of = [&](json answers) {
    int refused = 0;
    EXPECT_EQ(answers.size(), batch.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i]["id"], batch[i]["id"]);
      if (!answers[i].contains("error")) continue;
      ++refused;
      EXPECT_THAT(answers[i]["error"]["message"].get<std::string>(),
                  HasSubstr("in a separate request"));
    }
    return refused;
  };
  const int refused = refused_of(json::parse(held.Body()));
  EXPECT_GE(refused, 4);
  EXPECT_LT(refused, 8);
  // The places of the refused calls are free again.
  EXPECT_EQ(refused_of(client.Send(batch).body), refused);
}

TEST_F(McpTest, WaitingBatchesOfClientAreLimited) {
  McpClient client = Client("2025-03-26");
  const std::string open = Submit();
  const auto waiting = [&] {
    json batch = json::array();
    for (int i = 0; i < 100; ++i) batch.push_back(client.ToolCall("observe", WaitFor(open)));
    return batch;
  };
  std::vector<HttpStream> held;
  for (int i = 0; i < 40; ++i) held.push_back(client.Open(waiting()));
  services_.AwaitWaits(40 * 100);
  const auto refused = client.Send(waiting());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body["error"], "too_many_bodies");
  // A single call still works, and so does a batch once there is room.
  EXPECT_EQ(client.Send(client.Request("ping")).status, 200);
  held.pop_back();
  services_.AwaitWaits(39 * 100);
  held.push_back(client.Open(waiting()));
  services_.AwaitWaits(40 * 100);
  Complete(open, 1);
  for (HttpStream& each : held) EXPECT_EQ(json::parse(each.Body()).size(), 100);
}

TEST_F(McpTest, ClosingBatchConnectionEndsAllItsWaits) {
  McpClient client = Client("2025-03-26");
  const std::string id = Submit();
  HttpStream batch = client.Open(json::array(
      {client.ToolCall("observe", WaitFor(id)), client.ToolCall("observe", WaitFor(id))}));
  services_.AwaitWaits(2);
  batch.Close();
  services_.AwaitWaits(0);
}

TEST_F(McpTest, CallCancelledInItsBatchIsNotExecuted) {
  McpClient client = Client("2025-03-26");
  const json call = client.ToolCall("interact", {{"action", "get_page"}});
  const auto answer = client.Send(json::array(
      {call, McpClient::Notification("notifications/cancelled", {{"requestId", call["id"]}})}));
  EXPECT_EQ(answer.status, 202);
  // Earlier requests of the gateway have reached the tracker before this one.
  services_.AwaitWaits(0);
  EXPECT_EQ(services_.table().commands(), 0);
}

// Invalid requests.

TEST_F(McpTest, InvalidRequestIsRefusedWithoutId) {
  const std::vector<std::pair<std::string, int>> bodies = {
      {"", -32700},
      {"{", -32700},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700},
      {absl::StrCat(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)",
                    std::string(64, '['), std::string(64, ']'), "}}"),
       -32700},
      {"7", -32600},
      {R"({"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":true,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32600},
  };
  for (const char* version : {"2025-03-26", "2025-11-25", kModern}) {
    const McpClient client = Client(version);
    for (const auto& [body, code] : bodies) ExpectErrorWithoutId(client.SendRaw(body), 400, code);
  }
}

TEST_F(McpTest, TooLargeRequestIsRefused) {
  const McpClient client = Client("2025-11-25");
  EXPECT_EQ(client.OpenRaw("POST", {{"Content-Length", "13000000"}}, "{").Status(), 413);
}

TEST_F(McpTest, IdsAreReturnedUnchanged) {
  const McpClient client = Client("2025-11-25");
  for (const char* id : {"0", "-1", "9007199254740992", "9007199254740993", "\"\"", "\"0\"",
                         "\"a\\\"b\"", "\"é\""}) {
    const auto answer =
        client.SendRaw(absl::StrCat(R"({"jsonrpc":"2.0","method":"ping","id":)", id, "}"));
    EXPECT_EQ(answer.text, absl::StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":{}})"));
  }
}

TEST_F(McpTest, CallsWithInvalidParamsAreErrors) {
  for (const char* version : {"2025-03-26", "2025-11-25", kModern}) {
    McpClient client = Client(version);
    for (const json& params : std::vector<json>{
             {{"name", "no_such_tool"}}, {{"arguments", json::object()}}, {{"name", 7}}}) {
      const json request = client.Request("tools/call", params);
      ExpectError(client.Send(request), 200, -32602, request["id"]);
    }
    EXPECT_EQ(client.ErrorCode("tools/list", {{"cursor", "x"}}), -32602);
    EXPECT_EQ(client.ErrorCode("resources/read"), -32602);
  }
}

TEST_F(McpTest, InvalidArgumentsAreReportedToModel) {
  struct Case {
    std::string tool;
    json arguments;
    std::string field;
  };
  for (const Case& each :
       std::vector<Case>{{"interact", json::object(), "action"},
                         {"interact", {{"action", "fly"}}, "action"},
                         {"interact", {{"action", "click"}}, "selector"},
                         {"interact", {{"action", "click"}, {"selector", ""}}, "selector"},
                         {"interact", {{"action", "navigate"}, {"url", 7}}, "url"},
                         {"interact", {{"action", "type"}, {"selector", "a"}}, "text"},
                         {"interact", {{"action", "get_page"}, {"wait_ms", 30001}}, "wait_ms"},
                         {"interact", {{"action", "get_page"}, {"wait_ms", 0.5}}, "wait_ms"},
                         {"interact", {{"action", "get_page"}, {"tab_id", -1}}, "tab_id"},
                         {"interact", {{"action", "get_page"}, {"wait_msec", 1}}, "wait_msec"},
                         {"interact", {{"action", "cancel"}}, "correlation_id"},
                         {"observe", {{"what", "command_result"}}, "correlation_id"},
                         {"observe", {{"what", "nothing"}}, "what"},
                         {"analyze", {{"what", "page"}, {"timeout_ms", "soon"}}, "timeout_ms"},
                         {"analyze", 7, "arguments"},
                         {"analyze", json::array(), "arguments"}}) {
    for (const char* version : {"2025-11-25", kModern}) {
      McpClient client = Client(version);
      const json result = client.CallTool(each.tool, each.arguments);
      EXPECT_EQ(result["isError"], true) << result;
      EXPECT_EQ(result["structuredContent"]["error"], "invalid_arguments") << result;
      EXPECT_THAT(result["content"][0]["text"].get<std::string>(), HasSubstr(each.field));
    }
  }
  EXPECT_EQ(services_.Get("/pending-queries").body.size(), 0u);
}

TEST_F(McpTest, NotificationsAndLegacyRepliesAreAccepted) {
  McpClient legacy = Client("2025-11-25");
  for (const json& message : std::vector<json>{
           McpClient::Notification("notifications/initialized"),
           McpClient::Notification("notifications/no/such"),
           McpClient::Notification("notifications/cancelled"),
           McpClient::Notification("notifications/cancelled", {{"requestId", 4711}}),
           McpClient::Notification("notifications/cancelled", {{"requestId", {{"a", 1}}}}),
           {{"jsonrpc", "2.0"}, {"id", 4711}, {"result", json::object()}},
           {{"jsonrpc", "2.0"}, {"id", 4711}, {"error", 7}}}) {
    const auto answer = legacy.Send(message);
    EXPECT_EQ(answer.status, 202) << message;
    EXPECT_EQ(answer.text, "") << message;
  }
  McpClient modern = Client(kModern);
  EXPECT_EQ(modern.Send(McpClient::Notification("notifications/no/such")).status, 202);
  ExpectErrorWithoutId(modern.Send({{"jsonrpc", "2.0"}, {"id", 4711}, {"result", json::object()}}),
                       400, -32600);
}

// Cancelled requests.

TEST_F(McpTest, CancelReleasesWaitWithoutAnswer) {
  McpClient client = Client("2025-11-25");
  const std::string command = Submit();
  const json call = client.ToolCall("observe", WaitFor(command));
  HttpStream waiting = client.Open(call);
  services_.AwaitWaits(1);
  EXPECT_EQ(
      client.Send(McpClient::Notification("notifications/cancelled", {{"requestId", call["id"]}}))
          .status,
      202);
  services_.AwaitWaits(0);
  EXPECT_EQ(waiting.Status(), 202);
  EXPECT_EQ(waiting.Body(), "");
  // The call was cancelled, not the command.
  EXPECT_EQ(services_.Get("/pending-queries").body[0]["correlation_id"], command);
}

TEST_F(McpTest, CancelAffectsOnlyItsOwnSession) {
  McpClient one = Client("2025-11-25");
  McpClient other = Client("2025-11-25");
  const std::string command = Submit();
  const json call = one.ToolCall("observe", WaitFor(command));
  HttpStream mine = one.Open(call);
  HttpStream others = other.Open(call);
  services_.AwaitWaits(2);
  one.Send(McpClient::Notification("notifications/cancelled", {{"requestId", call["id"]}}));
  EXPECT_EQ(mine.Status(), 202);
  Complete(command, "there");
  EXPECT_EQ(json::parse(others.Body())["result"]["structuredContent"]["result"], "there");
}

TEST_F(McpTest, DuplicateIdIsRefusedWhileInUse) {
  McpClient client = Client("2025-11-25");
  const std::string command = Submit();
  const json call = client.ToolCall("observe", WaitFor(command));
  HttpStream waiting = client.Open(call);
  services_.AwaitWaits(1);
  json twin = Ping(call["id"]);
  ExpectErrorWithoutId(client.Send(twin), 400, -32600);
  // A text is a different id from its number.
  EXPECT_EQ(client.Send(Ping(call["id"].dump())).status, 200);
  Complete(command, 1);
  EXPECT_EQ(json::parse(waiting.Body())["id"], call["id"]);
  EXPECT_EQ(client.Send(twin).status, 200);
}

TEST_F(McpTest, DisconnectReleasesWaitAndKeepsCommand) {
  for (const char* version : {"2025-11-25", kModern}) {
    McpClient client = Client(version);
    HttpStream waiting =
        client.Open(client.ToolCall("interact", {{"action", "get_page"}, {"wait_ms", 30000}}));
    services_.AwaitWaits(1);
    waiting.Close();
    services_.AwaitWaits(0);
    EXPECT_EQ(services_.Get("/pending-queries").body.size(), 1u) << version;
  }
}

// Headers.

TEST_F(McpTest, ModernHeadersMustMatchBody) {
  McpClient client = Client(kModern);
  const json call = client.ToolCall("observe", {{"what", "pending_commands"}});
  EXPECT_EQ(client.Send(call).status, 200);
  const auto with = [&](const std::string& name, const std::string& value) {
    client.headers[name] = value;
    const auto answer = client.Send(call);
    client.headers.erase(name);
    return answer;
  };
  EXPECT_EQ(with("Mcp-Name", absl::StrCat("=?base64?", absl::Base64Escape("observe"), "?=")).status,
            200);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"Mcp-Method", "tools/list"},
           {"Mcp-Method", "TOOLS/CALL"},
           {"Mcp-Method", ""},
           {"Mcp-Name", "interact"},
           {"Mcp-Name", ""},
           {"Mcp-Name", "=?base64?b2JzZXJ2ZQ?="},
           {"Mcp-Name", "=?base64?!?="},
           {"Mcp-Name", absl::StrCat("=?base64?", absl::Base64Escape("interact"), "?=")},
           {"MCP-Protocol-Version", "2025-11-25"},
           {"MCP-Protocol-Version", ""}}) {
    ExpectError(with(name, value), 400, -32020, call["id"]);
  }
  // Missing altogether.
  const std::string body = call.dump();
  for (const char* missing : {"Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"}) {
    HttpStream::Headers headers = client.HeadersFor(call);
    headers.erase(missing);
    EXPECT_THAT(client.OpenRaw("POST", headers, body).Body(), HasSubstr("-32020")) << missing;
  }
}

TEST_F(McpTest, ModernRequestsMustCarryVersionAndCapabilities) {
  McpClient client = Client(kModern);
  json request = client.Request("tools/list");
  const HttpStream::Headers headers = client.HeadersFor(request);
  for (const json& meta :
       std::vector<json>{json(),
                         json::object(),
                         {{"io.modelcontextprotocol/protocolVersion", kModern}},
                         {{"io.modelcontextprotocol/protocolVersion", kModern},
                          {"io.modelcontextprotocol/clientCapabilities", 7}},
                         {{"io.modelcontextprotocol/clientCapabilities", json::object()}},
                         {{"io.modelcontextprotocol/protocolVersion", kModern},
                          {"io.modelcontextprotocol/clientCapabilities", json::object()},
                          {"io.modelcontextprotocol/logLevel", "loud"}}}) {
    request["params"]["_meta"] = meta;
    ExpectError(client.Send(request), 400, -32602, request["id"]);
  }
}

TEST_F(McpTest, UnknownVersionErrorListsKnownVersions) {
  for (const char* version : {"2027-01-01", "2025-11-25", "x"}) {
    McpClient client = Client(kModern);
    json request = client.Request("tools/list");
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version;
    client.headers["MCP-Protocol-Version"] = version;
    const auto answer = client.Send(request);
    ExpectError(answer, 400, -32022, request["id"]);
    EXPECT_EQ(answer.body["error"]["data"]["requested"], version);
    EXPECT_EQ(answer.body["error"]["data"]["supported"].size(), 4u);
  }
  // By the header alone.
  McpClient client = Client("2025-11-25");
  client.headers["MCP-Protocol-Version"] = "2027-01-01";
  EXPECT_EQ(client.Send(Ping(1)).body["error"]["code"], -32022);
}

TEST_F(McpTest, WrongAcceptAndContentTypeAreRefused) {
  McpClient client = Client("2025-11-25");
  for (const char* accept : {"application/json", "text/event-stream", "text/html"}) {
    client.headers["Accept"] = accept;
    EXPECT_EQ(client.Send(Ping(1)).status, 406) << accept;
  }
  for (const char* accept : {"*/*", "text/event-stream;q=0.5, application/json"}) {
    client.headers["Accept"] = accept;
    EXPECT_EQ(client.Send(Ping(1)).status, 200) << accept;
  }
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", ""}) {
    client.headers["Content-Type"] = type;
    EXPECT_EQ(client.Send(Ping(1)).status, 415) << type;
  }
  client.headers["Content-Type"] = "application/json; charset=utf-8";
  EXPECT_EQ(client.Send(Ping(1)).status, 200);
}

// Roles.

std::string TokenOf(const std::string& name) { return name + "-" + std::string(40, '0'); }

TokenFile Tokens() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries = {{{"agent", Role::kClient}, TokenOf("agent")},
                  {{"other", Role::kClient}, TokenOf("other")},
                  {{"viewer", Role::kViewer}, TokenOf("viewer")}};
  return file;
}

TEST(McpRoleTest, SessionWorksForItsPrincipalAtAnyGatewayWithKey) {
  TestServices services({}, Tokens());
  const McpClient agent(services.gateway_address(), "2025-11-25", TokenOf("agent"));
  const auto status = [&](const Address& gateway, const std::string& name) {
    const McpClient client(gateway, kModern, TokenOf(name));
    return client.OpenRaw("POST", {{"Mcp-Session-Id", agent.session_id()}}, Ping(1).dump())
        .Status();
  };
  EXPECT_EQ(status(services.gateway_address(), "agent"), 200);
  EXPECT_EQ(status(services.gateway_address(), "other"), 404);
  for (const char key : {'k', 'x'}) {
    TokenFile tokens = Tokens();
    tokens.session_key = std::string(32, key);
    gateway::GatewayServer second(
        {.listen = {{.host = "127.0.0.1", .port = 0}}, .tracker = {services.tracker_address()}},
        tokens);
    EXPECT_EQ(status(second.Start()->front(), "agent"), key == 'k' ? 200 : 404);
  }
}

TEST(McpRoleTest, ViewersCanOnlyObserve) {
  TestServices services({}, Tokens());
  for (const char* version : {"2025-11-25", kModern}) {
    McpClient viewer(services.gateway_address(), version, TokenOf("viewer"));
    viewer.capabilities["extensions"]["io.modelcontextprotocol/tasks"] = json::object();
    const json tools = viewer.Result("tools/list")["tools"];
    ASSERT_EQ(tools.size(), 1u);
    EXPECT_EQ(tools[0]["name"], "observe");
    for (const char* tool : {"interact", "analyze"}) {
      EXPECT_EQ(viewer.CallTool(tool, {{"action", "get_page"}, {"what", "page"}})["error"]["code"],
                -32602);
    }
    EXPECT_EQ(viewer.ErrorCode("tasks/cancel", {{"taskId", "x"}}), -32602);
    EXPECT_EQ(
        viewer.CallTool("observe", {{"what", "pending_commands"}})["structuredContent"]["status"],
        "complete");
  }
}

}  // namespace
}  // namespace callslip
