// Commands over REST: who sees them, their content, and reads that change nothing.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::SizeIs;

std::string TokenOfName(const std::string& name) {
  return absl::StrCat(name, "-", std::string(40, '0'));
}

TokenFile TokensForCommands() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  const auto add = [&](const char* name, Role role) {
    file.entries.push_back({{name, role}, TokenOfName(name)});
  };
  add("alice", Role::kClient);
  add("bob", Role::kClient);
  add("eye", Role::kViewer);
  add("root", Role::kAdmin);
  add("browser", Role::kWorker);
  return file;
}

class CommandApiTest : public testing::Test {
 protected:
  httplib::Result Send(const std::string& who, const std::string& method, const std::string& path,
                       const json& body = json::object(), httplib::Headers headers = {}) {
    httplib::Client client(services_.gateway_address().host, services_.gateway_address().port);
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.headers = std::move(headers);
    request.headers.emplace("Authorization", "Bearer " + TokenOfName(who));
    if (method == "POST") {
      request.headers.emplace("Content-Type", "application/json");
      request.body = body.dump();
    }
    return client.send(request);
  }

  json Ask(const std::string& who, const std::string& method, const std::string& path,
           const json& body = json::object()) {
    const httplib::Result result = Send(who, method, path, body);
    EXPECT_TRUE(result) << path;
    return result ? json::parse(result->body) : json();
  }

  // Submits a command of `who`; returns its id.
  std::string HandIn(const std::string& who, const std::string& target = "browser") {
    const json call = {{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params",
                        {{"name", "interact"},
                         {"arguments", {{"action", "get_page"}, {"target", target}}},
                         {"_meta",
                          {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                           {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}};
    const httplib::Result result = Send(who, "POST", "/mcp", call,
                                        {{"MCP-Protocol-Version", "2026-07-28"},
                                         {"Accept", "application/json, text/event-stream"},
                                         {"Mcp-Method", "tools/call"},
                                         {"Mcp-Name", "interact"}});
    return json::parse(result->body)["result"]["structuredContent"]["correlation_id"];
  }

  // The browser ends the next command with `outcome`; returns its id.
  std::string Execute(const json& outcome) {
    const json query = Ask("browser", "GET", "/pending-queries").at(0);
    json report = outcome;
    report["correlation_id"] = query["correlation_id"];
    report["id"] = query["id"];
    EXPECT_EQ(Ask("browser", "POST", "/query-result", report)["accepted"], true);
    return query["correlation_id"];
  }

  json Listed(const std::string& who, const std::string& query = "") {
    json ids = json::array();
    const json page = Ask(who, "GET", "/api/commands" + query);
    for (const json& each : page.at("commands")) {
      ids.push_back(each["correlation_id"]);
    }
    return ids;
  }

  TestServices services_{{}, TokensForCommands()};
};

TEST_F(CommandApiTest, ListsMatchingCommandsNewestFirst) {
  const std::string done = HandIn("alice");
  EXPECT_EQ(Execute({{"status", "complete"}, {"result", 1}}), done);
  const std::string failed = HandIn("alice");
  EXPECT_EQ(Execute({{"status", "error"}, {"error", "no"}}), failed);
  const std::string queued = HandIn("alice", "other");
  EXPECT_EQ(Listed("alice"), json({queued, failed, done}));
  EXPECT_EQ(Listed("alice", "?status=pending"), json({queued}));
  EXPECT_EQ(Listed("alice", "?stage=queued"), json({queued}));
  EXPECT_EQ(Listed("alice", "?stage=running"), json::array());
  EXPECT_EQ(Listed("alice", "?status=complete"), json({done}));
  EXPECT_EQ(Listed("alice", "?dead_letters=true"), json({failed}));
  EXPECT_EQ(Listed("alice", "?target=other"), json({queued}));
  EXPECT_EQ(Listed("alice", "?session=none"), json::array());
}

TEST_F(CommandApiTest, NextPageContinuesList) {
  const std::string first = HandIn("alice");
  const std::string second = HandIn("alice");
  const json page = Ask("alice", "GET", "/api/commands?limit=1");
  EXPECT_EQ(page["commands"][0]["correlation_id"], second);
  const std::string rest =
      absl::StrCat("/api/commands?limit=1&page_token=", page["next_page_token"].get<std::string>());
  const json last = Ask("alice", "GET", rest);
  EXPECT_EQ(last["commands"][0]["correlation_id"], first);
  EXPECT_FALSE(last.contains("next_page_token"));
}

TEST_F(CommandApiTest, RefusesInvalidFilters) {
  for (const char* query :
       {"?status=done", "?stage=asleep", "?status=complete&stage=queued", "?limit=0", "?limit=201",
        "?dead_letters=true&status=error", "?dead_letters=maybe"}) {
    const httplib::Result result = Send("alice", "GET", absl::StrCat("/api/commands", query));
    EXPECT_EQ(result->status, 400) << query;
    EXPECT_EQ(json::parse(result->body)["error"], "invalid_field") << query;
  }
  EXPECT_EQ(Ask("alice", "GET", "/api/commands?page_token=x")["error"], "invalid_page_token");
}

TEST_F(CommandApiTest, CallersSeeOnlyAllowedCommands) {
  const std::string of_alice = HandIn("alice");
  const std::string of_bob = HandIn("bob");
  EXPECT_EQ(Listed("alice"), json({of_alice}));
  EXPECT_EQ(Ask("alice", "GET", "/api/commands/" + of_bob)["error"], "unknown_command");
  EXPECT_EQ(Ask("alice", "POST", "/api/commands/" + of_bob + "/cancel")["error"],
            "unknown_command");
  EXPECT_EQ(Ask("alice", "GET", "/api/commands?client=*")["error"], "not_your_client");
  for (const char* who : {"eye", "root"}) {
    EXPECT_EQ(Listed(who), json::array());
    EXPECT_EQ(Listed(who, "?client=*"), json({of_bob, of_alice}));
    EXPECT_EQ(Listed(who, "?client=bob"), json({of_bob}));
    EXPECT_EQ(Ask(who, "GET", "/api/commands/" + of_bob)["client"], "bob");
  }
  for (const char* action : {"/cancel", "/replay"}) {
    EXPECT_EQ(Ask("eye", "POST", "/api/commands/" + of_bob + action)["error"], "role_not_allowed");
  }
  EXPECT_EQ(Ask("root", "POST", "/api/commands/" + of_bob + "/cancel")["status"], "cancelled");
}

TEST_F(CommandApiTest, ReturnsAllDetailsOfCommand) {
  const std::string id = HandIn("alice");
  const json queued = Ask("alice", "GET", "/api/commands/" + id);
  EXPECT_EQ(queued["stage"], "queued");
  EXPECT_EQ(queued["attempt"], 0);
  EXPECT_FALSE(queued.contains("delivered_at"));
  EXPECT_FALSE(queued.contains("result"));
  Execute({{"status", "complete"}, {"result", {{"title", "T"}}}, {"tab_id", 7}});
  const json done = Ask("alice", "GET", "/api/commands/" + id);
  EXPECT_EQ(done["status"], "complete");
  EXPECT_EQ(done["target"], "browser");
  EXPECT_EQ(done["command"], "get_page");
  EXPECT_EQ(done["client"], "alice");
  EXPECT_EQ(done["attempt"], 1);
  EXPECT_EQ(done["tab_id"], 7);
  EXPECT_EQ(done["params"]["action"], "get_page");
  EXPECT_EQ(done["result"], json({{"title", "T"}}));
  EXPECT_EQ(done["deadlines_ms"]["start_to_close"], 10'000);
  EXPECT_GT(done["revision"], queued["revision"]);
  json stages = json::array();
  for (const json& entry : done["trace"]) stages.push_back(entry["stage"]);
  EXPECT_EQ(stages.front(), "queued");
  EXPECT_EQ(stages.back(), "resolved");
  const json row = Ask("alice", "GET", "/api/commands")["commands"][0];
  for (const char* left_out : {"params", "result", "deadlines_ms"}) {
    EXPECT_FALSE(row.contains(left_out)) << left_out;
  }
}

TEST_F(CommandApiTest, ReadDoesNotCollectResult) {
  const std::string id = HandIn("alice");
  Execute({{"status", "complete"}, {"result", 1}});
  EXPECT_EQ(Ask("alice", "GET", "/api/commands/" + id)["result"], 1);
  EXPECT_EQ(Send("alice", "GET", "/api/commands/" + id + "/result")->body, "1");
  services_.clock().Advance(absl::Seconds(61));
  const json expired = Ask("alice", "GET", "/api/commands/" + id);
  EXPECT_EQ(expired["status"], "expired");
  EXPECT_EQ(expired["error"], "result_expired");
}

TEST_F(CommandApiTest, LargeResultsAreDownloadedSeparately) {
  const std::string id = HandIn("alice");
  EXPECT_EQ(Ask("alice", "GET", "/api/commands/" + id + "/result")["error"], "no_result");
  const std::string text = "<script>" + std::string(100 << 10, 'x');
  Execute({{"status", "complete"}, {"result", text}});
  const json command = Ask("alice", "GET", "/api/commands/" + id);
  EXPECT_FALSE(command.contains("result"));
  EXPECT_EQ(command["result_bytes"], text.size() + 2);
  const httplib::Result result = Send("alice", "GET", "/api/commands/" + id + "/result");
  EXPECT_EQ(json::parse(result->body), text);
  EXPECT_EQ(result->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(result->get_header_value("Content-Disposition"),
            absl::StrCat("attachment; filename=\"", id, ".json\""));
  EXPECT_EQ(Ask("bob", "GET", "/api/commands/" + id + "/result")["error"], "unknown_command");
}

TEST_F(CommandApiTest, CancelCanBeRepeatedButNotAfterCompletion) {
  const std::string id = HandIn("alice");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Ask("alice", "POST", "/api/commands/" + id + "/cancel")["status"], "cancelled");
  }
  const std::string done = HandIn("alice");
  Execute({{"status", "complete"}, {"result", 1}});
  const httplib::Result refused = Send("alice", "POST", "/api/commands/" + done + "/cancel");
  EXPECT_EQ(refused->status, 409);
  EXPECT_EQ(json::parse(refused->body)["error"], "already_ended");
}

TEST_F(CommandApiTest, ReplaysFailedCommandOncePerRequestId) {
  const std::string id = HandIn("alice");
  const std::string replay = "/api/commands/" + id + "/replay";
  const httplib::Result early = Send("alice", "POST", replay);
  EXPECT_EQ(early->status, 409);
  EXPECT_EQ(json::parse(early->body)["error"], "not_a_dead_letter");
  Execute({{"status", "error"}, {"error", "no"}});
  const json body = {{"request_id", "again"}};
  const httplib::Result first = Send("alice", "POST", replay, body);
  EXPECT_EQ(first->status, 201);
  const json replayed = json::parse(first->body);
  EXPECT_EQ(replayed["replay_of"], id);
  EXPECT_EQ(replayed["stage"], "queued");
  const httplib::Result second = Send("alice", "POST", replay, body);
  EXPECT_EQ(second->status, 200);
  EXPECT_EQ(json::parse(second->body)["correlation_id"], replayed["correlation_id"]);
  EXPECT_THAT(Listed("alice"), SizeIs(2));
  EXPECT_EQ(Ask("alice", "POST", replay, {{"request_id", 7}})["error"], "invalid_field");
}

TEST_F(CommandApiTest, SubmitsCommandOncePerRequestId) {
  const json body = {{"command", "execute_js"},
                     {"params", {{"script", "document.title"}, {"tab_id", 7}}},
                     {"request_id", "once"},
                     {"idempotent", true}};
  const httplib::Result first = Send("alice", "POST", "/api/commands", body);
  EXPECT_EQ(first->status, 201);
  const json row = json::parse(first->body);
  EXPECT_EQ(row["command"], "execute_js");
  EXPECT_EQ(row["target"], "browser");
  EXPECT_EQ(row["stage"], "queued");
  EXPECT_EQ(row["idempotent"], true);
  const httplib::Result second = Send("alice", "POST", "/api/commands", body);
  EXPECT_EQ(second->status, 200);
  EXPECT_EQ(json::parse(second->body)["correlation_id"], row["correlation_id"]);
  EXPECT_EQ(Listed("alice"), json({row["correlation_id"]}));
  Execute({{"status", "complete"}, {"result", "Example"}});
  const json done =
      Ask("alice", "GET", "/api/commands/" + row["correlation_id"].get<std::string>());
  EXPECT_EQ(done["params"], json({{"script", "document.title"}, {"tab_id", 7}}));
  EXPECT_EQ(done["result"], "Example");
}

TEST_F(CommandApiTest, InvalidCommandsAreNotSubmitted) {
  for (const json& body :
       {json::object(), json({{"command", ""}}), json({{"command", 5}}),
        json({{"command", "x"}, {"params", "text"}}), json({{"command", "x"}, {"params", {1}}}),
        json({{"command", "x"}, {"idempotent", "perhaps"}}),
        json({{"command", "x"}, {"target", 1}})}) {
    const httplib::Result refused = Send("alice", "POST", "/api/commands", body);
    EXPECT_EQ(refused->status, 400) << body;
    EXPECT_EQ(json::parse(refused->body)["error"], "invalid_field") << body;
  }
  // Requests that the tracker refuses.
  for (const json& body :
       {json({{"command", std::string(65, 'x')}}),
        json({{"command", "x"}, {"target", std::string(129, 'x')}}),
        json({{"command", "x"}, {"request_id", std::string(129, 'x')}}),
        json({{"command", "x"}, {"params", {{"a", std::string(1 << 20, 'x')}}}})}) {
    EXPECT_EQ(Send("alice", "POST", "/api/commands", body)->status, 400);
  }
  EXPECT_EQ(Ask("eye", "POST", "/api/commands", {{"command", "x"}})["error"], "role_not_allowed");
  EXPECT_THAT(Listed("alice"), SizeIs(0));
}

}  // namespace
}  // namespace callslip
