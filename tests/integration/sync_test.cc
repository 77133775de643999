// KaBOOM and Gasoline extensions at POST /sync, with an agent on the other side. The doubles behave
// like the versions in their names.
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class SyncTest : public testing::Test {
 protected:
  // Submits a command of the agent; returns its id.
  std::string Interact(json arguments) {
    const json answer = services_.ToolAnswer("interact", arguments);
    EXPECT_EQ(answer["status"], "queued") << answer;
    return answer["correlation_id"];
  }
  json Observe(const std::string& id, int wait_ms = 0) {
    return services_.ToolAnswer(
        "observe", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", wait_ms}});
  }
  TestServices::Answer Post(const std::string& path, const json& body) {
    return services_.Post(path, body.dump(), headers_);
  }
  json Sync(json body) {
    const auto answer = Post("/sync", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body["ack"], true);
    EXPECT_GT(answer.body["next_poll_ms"], 0);
    EXPECT_FALSE(answer.body.contains("server_version")) << "it would have to be the client's";
    return answer.body;
  }
  // Like 6.0.x: silent during execution, and its requests are not held.
  json OldSync(json more = json::object()) {
    more["session_id"] = "ext_1_old";
    more["extension_version"] = "6.0.3";
    more["settings"] = {{"pilot_enabled", true},
                        {"tracking_enabled", true},
                        {"tracked_tab_id", 12},
                        {"tracked_tab_url", "http://page/"}};
    return Sync(std::move(more));
  }
  // Like 0.8.x: reports its running commands.
  static json New(json more = json::object()) {
    more["ext_session_id"] = "ext_2_new";
    more["extension_version"] = "0.8.2";
    if (!more.contains("in_progress")) more["in_progress"] = json::array();
    return more;
  }
  // The answer of a held sync, once the tracker holds it and `meanwhile` has happened.
  template <typename Action>
  json HeldSync(Action meanwhile) {
    json answer;
    std::thread extension([&] { answer = Sync(New()); });
    services_.AwaitWaits(1);
    meanwhile();
    extension.join();
    return answer;
  }

  TestServices services_;
  std::map<std::string, std::string> headers_ = {{"X-Gasoline-Client", "gasoline-extension/6.0.3"}};
};

// 6.0.x.

TEST_F(SyncTest, OldExtensionExecutesSilentlyAndReportsLater) {
  const json first = OldSync();
  EXPECT_EQ(first["commands"], json::array()) << "it is not held";
  EXPECT_TRUE(first["capture_overrides"].is_object());
  EXPECT_THAT(first["server_time"].get<std::string>(), HasSubstr("Z"));

  const std::string id =
      Interact({{"action", "execute_js"}, {"script", "1 + 1"}, {"timeout_ms", 60000}});
  const std::string next = Interact({{"action", "click"}, {"selector", "#a"}});
  const json commands = OldSync()["commands"];
  ASSERT_EQ(commands.size(), 1u) << "one at a time: it executes them one after the other";
  EXPECT_EQ(commands[0]["type"], "execute");
  EXPECT_EQ(commands[0]["params"]["script"], "1 + 1");
  EXPECT_EQ(commands[0]["params"]["timeout_ms"], 60000);
  EXPECT_EQ(commands[0]["correlation_id"], id);
  EXPECT_EQ(Observe(id)["stage"], "running") << "delivery is the acknowledgement";

  services_.clock().Advance(absl::Seconds(25));
  EXPECT_EQ(Observe(id)["stage"], "running") << "no heartbeat is expected";
  const json after = OldSync({{"last_command_ack", commands[0]["id"]},
                              {"command_results",
                               {{{"id", commands[0]["id"]},
                                 {"correlation_id", id},
                                 {"status", "complete"},
                                 {"result", {{"success", true}, {"result", 2}}}}}}});
  const json answer = Observe(id);
  EXPECT_EQ(answer["status"], "complete");
  EXPECT_EQ(answer["result"], 2);
  EXPECT_EQ(answer["tab_id"], 12);
  EXPECT_EQ(answer["url"], "http://page/");
  ASSERT_EQ(after["commands"].size(), 1u);
  EXPECT_EQ(after["commands"][0]["correlation_id"], next);
}

TEST_F(SyncTest, CommandIsNeverSentTwice) {
  // It could be delivered twice if its delivery were not also its acknowledgement.
  const std::string id = Interact({{"action", "get_page"}});
  EXPECT_EQ(OldSync()["commands"].size(), 1u);
  services_.clock().Advance(absl::Seconds(4));
  EXPECT_EQ(OldSync()["commands"].size(), 0u);
  // `last_command_ack` is neither a receipt nor a report: the command continues until its timeout.
  EXPECT_EQ(OldSync({{"last_command_ack", id}})["commands"].size(), 0u);
  services_.clock().Advance(absl::Seconds(8));
  EXPECT_EQ(Observe(id, 30000)["error"], "execution_timeout");
}

TEST_F(SyncTest, CompleteWithErrorIsFailure) {
  const std::string id = Interact({{"action", "click"}, {"selector", "#a"}});
  const json command = OldSync()["commands"][0];
  OldSync({{"command_results",
            {{{"id", command["id"]},
              {"correlation_id", id},
              {"status", "complete"},
              {"result", nullptr},
              {"error", "ai_web_pilot_disabled"}}}}});
  const json answer = Observe(id);
  EXPECT_EQ(answer["status"], "error");
  EXPECT_EQ(answer["error"], "ai_web_pilot_disabled");
  EXPECT_EQ(answer["may_have_executed"], false);
  EXPECT_THAT(answer["hint"].get<std::string>(), HasSubstr("popup"));
}

TEST_F(SyncTest, OldExtensionGetsNoCommandForUntrackedTab) {
  const std::string id = Interact({{"action", "get_page"}, {"tab_id", 7}});
  EXPECT_EQ(OldSync()["commands"], json::array());
  EXPECT_EQ(Observe(id)["error"], "tab_not_tracked");
  EXPECT_EQ(Observe(id)["may_have_executed"], false);
}

TEST_F(SyncTest, ScreenshotIsPostedSeparately) {
  const std::string id = Interact({{"action", "screenshot"}});
  const json command = OldSync()["commands"][0];
  EXPECT_EQ(command["type"], "screenshot");
  const auto posted = Post("/screenshots", {{"data_url", "data:image/jpeg;base64,AAAA"},
                                            {"url", "http://page/"},
                                            {"query_id", command["id"]}});
  EXPECT_EQ(posted.status, 200);
  const json result =
      services_.CallTool("observe", {{"what", "command_result"}, {"correlation_id", id}});
  EXPECT_EQ(result["structuredContent"]["status"], "complete");
  EXPECT_EQ(result["content"][1]["mimeType"], "image/jpeg");
  EXPECT_EQ(result["content"][1]["data"], "AAAA");
  EXPECT_EQ(Post("/screenshots", {{"data_url", "data:image/png;base64,AAAA"}}).body["stored"],
            false);
}

// 0.7.5 and later.

TEST_F(SyncTest, NewExtensionIsHeldUntilCommandArrives) {
  std::string id;
  const json answer = HeldSync([&] {
    id = Interact({{"action", "navigate"}, {"url", "http://page/"}});
  });
  ASSERT_EQ(answer["commands"].size(), 1u);
  const json command = answer["commands"][0];
  EXPECT_EQ(command["type"], "browser_action");
  EXPECT_EQ(command["params"]["use_active_tab"], true);
  EXPECT_EQ(Observe(id)["stage"], "delivered") << "it acknowledges by itself";

  const json at_work = {{"in_progress",
                         {{{"id", command["id"]},
                           {"correlation_id", id},
                           {"type", "browser_action"},
                           {"status", "running"},
                           {"progress_pct", 50}}}}};
  EXPECT_EQ(Sync(New(at_work))["commands"], json::array()) << "who is at work is not held";
  EXPECT_EQ(Observe(id)["stage"], "running");
  EXPECT_EQ(Observe(id)["progress"]["fraction"], 0.5);

  const json result = {{"success", true}, {"resolved_tab_id", 7}, {"resolved_url", "http://page/"}};
  const json report = {
      {"id", command["id"]}, {"correlation_id", id}, {"status", "complete"}, {"result", result}};
  json reported;
  std::thread extension([&] { reported = Sync(New({{"command_results", {report}}})); });
  EXPECT_EQ(Observe(id, 30000)["status"], "complete");
  EXPECT_EQ(Observe(id)["tab_id"], 7);
  services_.AwaitWaits(1);
  services_.clock().Advance(absl::Seconds(5));
  extension.join();
  EXPECT_EQ(reported["commands"], json::array());
}

TEST_F(SyncTest, AllReportsOfOneSyncAreAccepted) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Interact({{"action", "click"}, {"selector", absl::StrCat("#", i)}}));
  }
  std::map<std::string, json> commands;
  const json first = Sync(New());
  for (const json& command : first["commands"]) commands[command["correlation_id"]] = command;
  ASSERT_EQ(commands.size(), 5u);
  const auto report = [&](int i, const std::string& status) {
    return json{{"id", commands[ids[i]]["id"]},
                {"correlation_id", ids[i]},
                {"status", status},
                {"result", {{"success", true}, {"number", i}}}};
  };

  json sync = {{"command_results", {report(0, "complete"), report(1, "complete")}},
               {"in_progress", {report(2, "running"), report(3, "running")}},
               {"extension_logs", {{{"level", "info"}, {"message", "said"}}}}};
  sync["command_results"].push_back(
      {{"id", "corr-0-0"}, {"correlation_id", "corr-0-0"}, {"status", "complete"}});
  sync["command_results"].push_back(report(4, "complete"));
  Sync(New(sync));

  for (const int i : {0, 1, 4}) EXPECT_EQ(Observe(ids[i])["result"]["number"], i);
  for (const int i : {2, 3}) EXPECT_EQ(Observe(ids[i])["stage"], "running") << i;
  const json logs = services_.ToolAnswer("observe", {{"what", "browser_log"}});
  EXPECT_EQ(logs["result"]["entries"].size(), 1u);
  EXPECT_EQ(services_.Get("/health").body["capture"]["extension_connected"], true);
}

TEST_F(SyncTest, SilentNewExtensionLosesItsCommand) {
  const std::string id = Interact({{"action", "click"}, {"selector", "#a"}});
  const json command = Sync(New())["commands"][0];
  Sync(New({{"in_progress", {{{"id", command["id"]}, {"correlation_id", id}}}}}));
  services_.clock().Advance(absl::Seconds(10));
  EXPECT_EQ(Observe(id, 30000)["error"], "worker_lost");
  // It returns, and its result changes nothing. The request is not held, since it gets the end.
  Sync(New({{"command_results",
             {{{"id", command["id"]}, {"correlation_id", id}, {"status", "complete"}}}}}));
  EXPECT_EQ(Observe(id)["error"], "worker_lost");
}

TEST_F(SyncTest, UnsupportedCommandIsRefusedAtOnce) {
  Interact({{"action", "get_page"}});
  tracker::CommandRequest request;
  request.client_id = "local";
  request.type = "make_coffee";
  const auto registered = services_.table().Register(std::move(request), services_.clock().Now());
  ASSERT_TRUE(registered.ok());
  const json commands = Sync(New())["commands"];
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0]["type"], "execute");
  const json answer = Observe((*registered).command->spec->id.ToString());
  EXPECT_EQ(answer["error"], "unknown_action");
  EXPECT_EQ(answer["may_have_executed"], false);
}

// Other requests of these extensions.

TEST_F(SyncTest, BadRequestsAreRefused) {
  EXPECT_EQ(Post("/sync", json::object()).body["error"], "missing_session");
  EXPECT_EQ(Post("/sync", json::array()).body["error"], "invalid_body");
  EXPECT_EQ(services_.Post("/sync", "{", headers_).body["error"], "malformed_json");
  EXPECT_EQ(Post("/logs", {{"entries", 7}}).body["error"], "invalid_body");
}

TEST_F(SyncTest, BrowserLogsCanBeRead) {
  OldSync({{"extension_logs", {{{"level", "info"}, {"message", "started"}}}}});
  const json entry = {{"level", "error"}, {"message", "boom"}};
  EXPECT_EQ(Post("/logs", {{"entries", {entry}}}).body["entries"], 1);
  EXPECT_EQ(Post("/network-bodies",
                 {{"bodies", {{{"url", "http://x/"}, {"headers", {{"Cookie", "a=b"}}}}}}})
                .status,
            200);
  EXPECT_EQ(Post("/websocket-events", {{"events", json::array()}}).status, 200);
  EXPECT_EQ(Post("/enhanced-actions", {{"actions", {{{"type", "click"}}}}}).status, 200);
  EXPECT_EQ(Post("/performance-snapshots", {{"snapshots", {{{"lcp", 1}}}}}).status, 200);
  EXPECT_EQ(Post("/api/extension-status", {{"type", "status"}}).status, 200);

  const json logs = services_.ToolAnswer("observe", {{"what", "browser_log"}, {"kind", "logs"}});
  ASSERT_EQ(logs["result"]["entries"].size(), 1u);
  EXPECT_EQ(logs["result"]["entries"][0]["entry"], entry);
  EXPECT_EQ(logs["result"]["entries"][0]["kind"], "logs");
  EXPECT_EQ(logs["result"]["entries"][0]["worker"], "gasoline-extension/6.0.3");
  const json all = services_.ToolAnswer("observe", {{"what", "browser_log"}});
  EXPECT_EQ(all["result"]["entries"].size(), 6u);
  EXPECT_EQ(all["result"]["entries"][5]["worker"], "sync-ext_1_old");
  EXPECT_EQ(all["result"]["entries"][3]["entry"]["headers"]["Cookie"], "[redacted]");
}

TEST_F(SyncTest, LogsOfCommandTabBelongToItsClient) {
  tracker::CommandRequest request;
  request.client_id = "alice";
  request.type = "click";
  request.params = std::make_shared<const std::string>(R"({"action":"click","selector":"#a"})");
  ASSERT_TRUE(services_.table().Register(std::move(request), services_.clock().Now()).ok());
  const json command = OldSync()["commands"][0];
  const auto log = [this](int tab_id, const char* text) {
    OldSync({{"extension_logs", {{{"tab_id", tab_id}, {"message", text}}}}});
  };
  const auto said = [this] {
    json texts = json::array();
    const json answer = services_.ToolAnswer("observe", {{"what", "browser_log"}});
    for (const json& each : answer["result"]["entries"]) texts.push_back(each["entry"]["message"]);
    return texts;
  };
  log(12, "there");
  log(13, "elsewhere");
  EXPECT_EQ(said(), json({"elsewhere", "there"})) << "whoever sent it";
  // A report of 6.0.x without a tab: the tracked tab is used.
  OldSync({{"command_results",
            {{{"id", command["id"]},
              {"correlation_id", command["correlation_id"]},
              {"status", "complete"},
              {"result", {{"success", true}}}}}}});
  EXPECT_EQ(said(), json({"elsewhere"}));
  log(12, "there again");
  EXPECT_EQ(said(), json({"elsewhere"}));
}

TEST_F(SyncTest, HealthReportsWhetherSyncExtensionIsConnected) {
  EXPECT_EQ(services_.Get("/health").body["capture"]["extension_connected"], false);
  services_.Get("/pending-queries");
  EXPECT_EQ(services_.Get("/health").body["capture"]["extension_connected"], false);
  OldSync();
  EXPECT_EQ(services_.Get("/health").body["capture"]["extension_connected"], true);
  services_.clock().Advance(absl::Seconds(11));
  EXPECT_EQ(services_.Get("/health").body["capture"]["extension_connected"], false);
}

TEST_F(SyncTest, UnreachableTrackerFailsSync) {
  const std::string id = Interact({{"action", "click"}, {"selector", "#a"}});
  const json command = OldSync()["commands"][0];
  services_.StopTracker();
  const auto answer =
      Post("/sync", {{"session_id", "ext_1_old"},
                     {"command_results", {{{"id", command["id"]}, {"status", "complete"}}}}});
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body["error"], "tracker_unreachable");
}

}  // namespace
}  // namespace callslip
