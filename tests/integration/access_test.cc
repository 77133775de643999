// Access control: pages of other origins, rebound host names, callers without a token, and callers
// with the wrong one.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/access_table.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Route {
  std::string method;
  std::string path;
};

// All routes besides /healthz and /readyz, and one that does not exist.
const std::vector<Route> kRoutes = {{"POST", "/mcp"},
                                    {"GET", "/pending-queries"},
                                    {"POST", "/query-result"},
                                    {"POST", "/draw-mode/complete"},
                                    {"GET", "/nothing"}};

const std::vector<Role> kRoles = {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin};

std::string NameOf(Role role) { return std::string(RoleName(role)); }

std::string SecretOf(const std::string& name) { return name + "-" + std::string(40, '0'); }
std::string BearerOf(const std::string& name) { return "Bearer " + SecretOf(name); }

TokenFile TokensOfAllRoles() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  const auto add = [&](const std::string& name, Role role) {
    file.entries.push_back({{name, role}, SecretOf(name)});
  };
  for (const Role role : kRoles) add(NameOf(role), role);
  add("client-2", Role::kClient);
  add("runner", Role::kRunner);
  add("gateway", Role::kGateway);
  return file;
}

class AccessTest : public testing::Test {
 protected:
  void ServeOnLoopback() { services_ = std::make_unique<TestServices>(); }
  void ServeOnAllAddresses() {
    services_ = std::make_unique<TestServices>(
        gateway::GatewayConfig{.listen = {{.host = "0.0.0.0"}}, .web_root = "."},
        TokensOfAllRoles());
  }

  httplib::Response Ask(const Route& route, httplib::Headers headers,
                        const std::string& body = "") {
    httplib::Client client("127.0.0.1", services_->gateway_address().port);
    httplib::Request request;
    request.method = route.method;
    request.path = route.path;
    request.headers = std::move(headers);
    // The headers of a tool call of 2026-07-28, which needs no session.
    if (const json params = json::parse(body.empty() ? "{}" : body)["params"]; params.is_object()) {
      request.headers.emplace("MCP-Protocol-Version", "2026-07-28");
      request.headers.emplace("Mcp-Method", "tools/call");
      request.headers.emplace("Mcp-Name", params["name"].get<std::string>());
    }
    if (route.method == "POST") request.headers.emplace("Content-Type", "application/json");
    request.body = body;
    const httplib::Result result = client.send(request);
    EXPECT_TRUE(result) << route.path;
    return result ? *result : httplib::Response();
  }

  static std::string ErrorOf(const httplib::Response& response) {
    return json::parse(response.body)["error"];
  }

  // The request runs and shows nothing, and no browser gives the answer to the page.
  static void ExpectRefused(const httplib::Response& response, int status,
                            const std::string& error) {
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(ErrorOf(response), error);
    EXPECT_FALSE(response.has_header("Access-Control-Allow-Origin"));
  }

  json AsWorker(const std::string& method, const std::string& path, const json& body) {
    const auto response = Ask({method, path}, {{"Authorization", BearerOf("worker")}}, body.dump());
    EXPECT_EQ(response.status, 200) << path << response.body;
    return json::parse(response.body);
  }

  static std::string ToolCall(const std::string& tool, const json& arguments) {
    return json{{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "tools/call"},
                {"params",
                 {{"name", tool},
                  {"arguments", arguments},
                  {"_meta",
                   {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                    {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}}
        .dump();
  }

  // The structured answer of a tool to the principal `name`.
  json CallTool(const std::string& name, const std::string& tool, const json& arguments) {
    const auto response =
        Ask({"POST", "/mcp"}, {{"Authorization", BearerOf(name)}}, ToolCall(tool, arguments));
    return json::parse(response.body)["result"]["structuredContent"];
  }

  std::unique_ptr<TestServices> services_;
};

// Pages that a user visits.

TEST_F(AccessTest, PagesOfOtherOriginsAreRefused) {
  ServeOnLoopback();
  const std::string body = ToolCall("interact", {{"action", "get_page"}});
  for (const char* origin : {"https://evil.example", "http://127.0.0.1:1", "null",
                             "chrome-extension://abcdefghijklmnopabcdefghijklmnop"}) {
    for (const Route& route : kRoutes) {
      ExpectRefused(Ask(route, {{"Origin", origin}}, body), 403, "origin_not_allowed");
    }
    ExpectRefused(Ask({"GET", "/healthz"}, {{"Origin", origin}}), 403, "origin_not_allowed");
    ExpectRefused(
        Ask({"OPTIONS", "/mcp"}, {{"Origin", origin}, {"Access-Control-Request-Method", "POST"}}),
        403, "origin_not_allowed");
  }
  // Images, scripts and links carry no Origin.
  ExpectRefused(Ask({"GET", "/pending-queries"}, {{"Sec-Fetch-Site", "cross-site"}}), 403,
                "site_not_allowed");
  // Forms are not JSON.
  httplib::Client client("127.0.0.1", services_->gateway_address().port);
  EXPECT_EQ(client.Post("/mcp", body, "text/plain")->status, 415);
  EXPECT_EQ(services_->Get("/pending-queries").body.size(), 0u);
}

TEST_F(AccessTest, ReboundHostNamesAreRefused) {
  ServeOnLoopback();
  const std::string port = std::to_string(services_->gateway_address().port);
  const std::string body = ToolCall("interact", {{"action", "get_page"}});
  for (const std::string& host :
       {"evil.example:" + port, std::string("evil.example"), std::string("127.0.0.1"),
        "127.0.0.1." + port, "localhost:" + port + ".evil.example", "127.0.0.1:1" + port,
        std::string()}) {
    for (const Route& route : kRoutes) {
      // For the browser a rebound page has the same origin as the server.
      ExpectRefused(Ask(route, {{"Host", host}, {"Origin", "http://" + host}}, body), 403,
                    "host_not_allowed");
    }
    for (const char* path : {"/healthz", "/readyz"}) {
      ExpectRefused(Ask({"GET", path}, {{"Host", host}}), 403, "host_not_allowed");
    }
    ExpectRefused(Ask({"OPTIONS", "/mcp"}, {{"Host", host}, {"Origin", "http://" + host}}), 403,
                  "host_not_allowed");
  }
  EXPECT_EQ(services_->Get("/pending-queries").body.size(), 0u);
}

TEST_F(AccessTest, ReferenceExtensionIsAllowed) {
  ServeOnLoopback();
  const httplib::Headers headers = {{"Origin", gateway::kReferenceExtension}};
  const auto poll = Ask({"GET", "/pending-queries"}, headers);
  EXPECT_EQ(poll.status, 200);
  EXPECT_EQ(poll.get_header_value("Access-Control-Allow-Origin"), gateway::kReferenceExtension);
  EXPECT_THAT(poll.get_header_value("Access-Control-Expose-Headers"), HasSubstr("Mcp-Session-Id"));

  const auto preflight = Ask({"OPTIONS", "/query-result"},
                             {{"Origin", gateway::kReferenceExtension},
                              {"Access-Control-Request-Method", "POST"},
                              {"Access-Control-Request-Headers", "authorization, content-type"},
                              {"Access-Control-Request-Private-Network", "true"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.get_header_value("Access-Control-Allow-Origin"),
            gateway::kReferenceExtension);
  EXPECT_EQ(preflight.get_header_value("Access-Control-Allow-Methods"), "POST");
  EXPECT_THAT(preflight.get_header_value("Access-Control-Allow-Headers"),
              HasSubstr("authorization"));
  EXPECT_EQ(preflight.get_header_value("Access-Control-Allow-Private-Network"), "true");
  EXPECT_EQ(preflight.get_header_value("Vary"), "Origin");
}

// Callers on other machines.

TEST_F(AccessTest, OnlyHealthIsServedWithoutKnownToken) {
  ServeOnAllAddresses();
  const std::string body = ToolCall("interact", {{"action", "get_page"}});
  for (const Route& route : kRoutes) {
    const auto missing = Ask(route, {}, body);
    ExpectRefused(missing, 401, "token_missing");
    EXPECT_EQ(missing.get_header_value("WWW-Authenticate"), "Bearer");
    ExpectRefused(Ask(route, {{"Authorization", BearerOf("nobody")}}, body), 401, "token_unknown");
    // In a URL a token would end up in logs and histories.
    const std::string query = "?token=" + BearerOf("admin").substr(7);
    ExpectRefused(Ask({route.method, route.path + query}, {}, body), 401, "token_missing");
  }
  EXPECT_EQ(Ask({"GET", "/healthz"}, {}).status, 200);
  EXPECT_EQ(Ask({"GET", "/readyz"}, {}).status, 200);
  const auto poll = Ask({"GET", "/pending-queries"}, {{"Authorization", BearerOf("worker")}});
  EXPECT_EQ(json::parse(poll.body).size(), 0u);
}

TEST_F(AccessTest, TokenDoesNotBypassHostAndOriginChecks) {
  ServeOnAllAddresses();
  const auto with_token = [](httplib::Headers headers) {
    headers.emplace("Authorization", BearerOf("admin"));
    return headers;
  };
  ExpectRefused(Ask({"GET", "/pending-queries"}, with_token({{"Host", "evil.example"}})), 403,
                "host_not_allowed");
  ExpectRefused(Ask({"GET", "/pending-queries"}, with_token({{"Origin", "null"}})), 403,
                "origin_not_allowed");
}

TEST_F(AccessTest, EachRoleReachesOnlyItsRoutes) {
  ServeOnAllAddresses();
  const std::map<std::string, std::vector<Role>> allowed = {
      {"/mcp", {Role::kClient, Role::kViewer, Role::kAdmin}},
      {"/pending-queries", {Role::kWorker, Role::kAdmin}},
      {"/query-result", {Role::kWorker, Role::kAdmin}},
      {"/draw-mode/complete", {Role::kWorker, Role::kAdmin}},
      {"/nothing", kRoles},
  };
  for (const Route& route : kRoutes) {
    for (const Role role : kRoles) {
      const auto response = Ask(route, {{"Authorization", BearerOf(NameOf(role))}}, "{}");
      const bool may = testing::Value(allowed.at(route.path), testing::Contains(role));
      EXPECT_EQ(response.status == 403, !may) << route.path << " " << NameOf(role);
      if (may) continue;
      EXPECT_EQ(ErrorOf(response), "role_not_allowed");
    }
  }
}

TEST_F(AccessTest, NewSessionKeyTakesEffectAtOnce) {
  ServeOnAllAddresses();
  const auto post = [this](const std::string& method, const std::string& session) {
    httplib::Headers headers = {{"Authorization", BearerOf("client")}};
    if (!session.empty()) headers.emplace("Mcp-Session-Id", session);
    httplib::Client client("127.0.0.1", services_->gateway_address().port);
    const json message = {{"jsonrpc", "2.0"},
                          {"id", 1},
                          {"method", method},
                          {"params", {{"protocolVersion", "2025-11-25"}}}};
    return *client.Post("/mcp", headers, message.dump(), "application/json");
  };
  const std::string session = post("initialize", "").get_header_value("Mcp-Session-Id");
  EXPECT_EQ(post("ping", session).status, 200);
  TokenFile file = TokensOfAllRoles();
  services_->gateway().Take(file);
  EXPECT_EQ(post("ping", session).status, 200);
  file.session_key = std::string(32, 'l');
  services_->gateway().Take(file);
  EXPECT_EQ(post("ping", session).status, 404);
  const std::string next = post("initialize", "").get_header_value("Mcp-Session-Id");
  EXPECT_EQ(post("ping", next).status, 200);
}

TEST_F(AccessTest, CorrelationIdsOfOtherClientsAreUnknown) {
  ServeOnAllAddresses();
  const std::string id = CallTool("client", "interact", {{"action", "get_page"}})["correlation_id"];
  const json question = {{"what", "command_result"}, {"correlation_id", id}};
  EXPECT_EQ(CallTool("client", "observe", question)["status"], "pending");

  const std::string made_up = "corr-1-00000000000000000000000000000000";
  const json answer = CallTool("client-2", "observe", question);
  EXPECT_EQ(answer["error"], "unknown_command");
  // Only the id distinguishes it from a command that never existed.
  const json unknown =
      CallTool("client-2", "observe", {{"what", "command_result"}, {"correlation_id", made_up}});
  EXPECT_EQ(answer.dump(), absl::StrReplaceAll(unknown.dump(), {{made_up, id}}));
  EXPECT_EQ(CallTool("client-2", "observe", {{"what", "pending_commands"}})["pending"].size(), 0u);
  EXPECT_EQ(CallTool("client", "observe", question)["status"], "pending");
}

TEST_F(AccessTest, ViewersAndAdminsReachCommandsOfAllClients) {
  ServeOnAllAddresses();
  const std::string id = CallTool("client", "interact", {{"action", "get_page"}})["correlation_id"];
  const auto pending = [&](const std::string& name, const std::string& client) {
    return CallTool(name, "observe", {{"what", "pending_commands"}, {"client", client}});
  };
  for (const char* name : {"viewer", "admin"}) {
    EXPECT_EQ(
        CallTool(name, "observe", {{"what", "command_result"}, {"correlation_id", id}})["status"],
        "pending");
    EXPECT_EQ(CallTool(name, "observe", {{"what", "pending_commands"}})["pending"].size(), 0u);
    EXPECT_EQ(pending(name, "client-2")["pending"].size(), 0u);
    EXPECT_EQ(pending(name, "client")["pending"][0]["client"], "client");
    EXPECT_EQ(pending(name, "*")["pending"].size(), 1u);
  }
  EXPECT_EQ(pending("client-2", "*")["error"], "not_your_client");
  EXPECT_EQ(pending("client-2", "client")["error"], "not_your_client");
  EXPECT_EQ(CallTool("admin", "interact", {{"action", "cancel"}, {"correlation_id", id}})["status"],
            "cancelled");
}

TEST_F(AccessTest, ListeningToCommandsOfOthersCollectsNothing) {
  for (const char* name : {"viewer", "admin"}) {
    ServeOnAllAddresses();
    const std::string id =
        CallTool("client", "interact", {{"action", "get_page"}})["correlation_id"];
    McpClient listener({.host = "127.0.0.1", .port = services_->gateway_address().port},
                       "2026-07-28", SecretOf(name));
    listener.capabilities["extensions"]["io.modelcontextprotocol/tasks"] = json::object();
    HttpStream stream = listener.Open(listener.Request(
        "subscriptions/listen",
        {{"notifications",
          {{"taskIds", {id}}, {"resourceSubscriptions", {"callslip://result/" + id}}}}}));
    EXPECT_EQ(stream.Event()["method"], "notifications/subscriptions/acknowledged");
    services_->AwaitWaits(2);
    const json query = AsWorker("GET", "/pending-queries?worker=w1", {}).at(0);
    AsWorker("POST", "/query-result",
             {{"correlation_id", id}, {"id", query["id"]}, {"status", "complete"}});
    while (stream.Event()["method"] != "notifications/resources/updated") {
    }
    // By then collected commands are removed, and the others have expired.
    services_->clock().Advance(absl::Seconds(61));
    json left;
    do {
      left = CallTool("admin", "observe", {{"what", "command_result"}, {"correlation_id", id}});
    } while (left["status"] == "complete");
    EXPECT_EQ(left["error"], "result_expired") << name << left;
  }
}

TEST_F(AccessTest, ClientsSeeOnlyLogsOfTheirOwnTabs) {
  ServeOnAllAddresses();
  const auto said = [this](const std::string& name) {
    const json log = CallTool(name, "observe", {{"what", "browser_log"}});
    json texts = json::array();
    for (const json& each : log["result"]["entries"]) texts.push_back(each["entry"]["text"]);
    return texts;
  };
  CallTool("client", "interact", {{"action", "get_page"}});
  const json query = AsWorker("GET", "/pending-queries?worker=w1", {}).at(0);
  AsWorker("POST", "/logs?worker=w1",
           {{"entries", {{{"tab_id", 7}, {"text", "a"}}, {{"tabId", 8}, {"text", "b"}}}}});
  EXPECT_EQ(said("client"), json::array());
  AsWorker("POST", "/query-result",
           {{"correlation_id", query["correlation_id"]},
            {"id", query["id"]},
            {"status", "complete"},
            {"tab_id", 7}});
  EXPECT_EQ(said("client"), json({"a"}));
  EXPECT_EQ(said("client-2"), json::array());
  for (const char* name : {"viewer", "admin"}) EXPECT_EQ(said(name), json({"b", "a"})) << name;
}

TEST_F(AccessTest, RoutesAllowExactlyDocumentedCallers) {
  ServeOnAllAddresses();
  auto documented = DocumentedAccess(CALLSLIP_DOCS_DIR, "route");
  for (const gateway::Router::Served& served : services_->gateway().Routes()) {
    const std::string name = absl::StrCat(served.method, " ", served.path);
    if (documented.count(name) == 0) {
      ADD_FAILURE() << name << " has no row in docs/access.md";
      continue;
    }
    const std::set<std::string> who = documented.extract(name).mapped();
    // No request waits for a session that does not exist.
    const Route route{served.method, absl::StrReplaceAll(served.path, {{"{", ""}, {"}", ""}})};
    for (const char* caller : {"client", "client-2", "worker", "viewer", "admin", "runner",
                               "gateway", "nobody", "a withdrawn token", "no token"}) {
      httplib::Headers headers;
      const std::string token = caller == std::string("a withdrawn token") ? "withdrawn" : caller;
      if (token != "no token") headers.emplace("Authorization", BearerOf(token));
      const httplib::Response response = Ask(route, headers, "{}");
      const bool refused =
          response.status == 401 ||
          (response.status == 403 && absl::StrContains(response.body, "role_not_allowed"));
      const std::string column = token == "client-2"                           ? "client"
                                 : token == "withdrawn" || token == "no token" ? "nobody"
                                                                               : token;
      EXPECT_EQ(!refused, who.count(column) > 0)
          << name << " by " << caller << ": " << response.status << " " << response.body;
    }
  }
  for (const auto& [name, who] : documented) ADD_FAILURE() << name << " is not served";
}

}  // namespace
}  // namespace callslip
