// Several browsers at once: their identity, their running commands, and the assignment of commands.
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class WorkersTest : public testing::Test {
 protected:
  // The answer of observe after a wait without an end.
  json ObservedInVain(const json& correlation_id) {
    services_.AwaitWaits(0);  // An earlier call has ended.
    json answer;
    std::thread agent([&] {
      answer = services_.ToolAnswer(
          "observe",
          {{"what", "command_result"}, {"correlation_id", correlation_id}, {"wait_ms", 8000}});
    });
    services_.AwaitWaits(1);
    services_.clock().Advance(absl::Seconds(8));
    agent.join();
    EXPECT_EQ(answer["status"], "pending");
    return answer;
  }

  json Workers() {
    return services_.ToolAnswer("observe", {{"what", "workers"}})["result"]["workers"];
  }

  TestServices services_;
};

TEST_F(WorkersTest, EachWorkerReportsItsIdentityAndCommands) {
  EXPECT_EQ(Workers(), json::array());
  const json tabs = {{{"tab_id", 7},
                      {"window_id", 1},
                      {"active", true},
                      {"title", "Title"},
                      {"url", "http://page/"}}};
  const json status = {{"worker", "w1"},     {"target", "laptop"},        {"name", "Work laptop"},
                       {"version", "0.1.0"}, {"browser", "Chrome/131.0"}, {"paused", false},
                       {"tabs", tabs}};
  const auto reported = services_.Post("/worker-status", status.dump());
  EXPECT_EQ(reported.status, 200);
  EXPECT_EQ(reported.body, (json{{"status", "ok"}}));

  const std::string id = services_.ToolAnswer(
      "interact", {{"action", "get_page"}, {"target", "laptop"}})["correlation_id"];
  EXPECT_EQ(services_.Get("/pending-queries").body, json::array()) << "another target";
  EXPECT_EQ(services_.Get("/pending-queries?target=laptop&worker=w1").body.size(), 1u);
  services_.clock().Advance(absl::Milliseconds(1500));

  const json workers = Workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0]["worker"], "default");
  EXPECT_EQ(workers[0]["target"], "browser");
  EXPECT_FALSE(workers[0].contains("name"));
  json laptop = workers[1];
  ASSERT_EQ(laptop["doing"].size(), 1u);
  EXPECT_EQ(laptop["doing"][0]["correlation_id"], id);
  EXPECT_EQ(laptop["doing"][0]["command"], "get_page");
  EXPECT_EQ(laptop["doing"][0]["stage"], "delivered");
  EXPECT_TRUE(laptop["doing"][0].contains("since"));
  laptop.erase("doing");
  json expected = status;
  expected["connected"] = true;
  expected["last_seen_ms_ago"] = 1500;
  EXPECT_EQ(laptop, expected);

  services_.clock().Advance(absl::Seconds(9));
  EXPECT_EQ(Workers()[1]["connected"], false);
}

TEST_F(WorkersTest, BadReportsAreRefused) {
  EXPECT_EQ(services_.Post("/worker-status", R"({"tabs":7})").body["error"], "invalid_field");
  EXPECT_EQ(
      services_.Post("/worker-status", R"({"worker":")" + std::string(200, 'w') + "\"}").status,
      400);
}

TEST_F(WorkersTest, CommandWithoutWorkerGetsHint) {
  const json waiting = services_.ToolAnswer("interact", {{"action", "get_page"}});
  const json id = waiting["correlation_id"];
  const json arguments = {{"what", "command_result"}, {"correlation_id", id}};
  EXPECT_FALSE(services_.ToolAnswer("observe", arguments).contains("hint")) << "a look is cheap";
  EXPECT_THAT(ObservedInVain(id)["hint"].get<std::string>(),
              HasSubstr("is connected to target \"browser\""));
  // Paused counts as absent; a worker of another target does not count.
  services_.Post("/worker-status", R"({"paused":true})");
  services_.Get("/pending-queries?target=laptop");
  EXPECT_TRUE(ObservedInVain(id).contains("hint"));
  services_.Post("/worker-status", R"({"paused":false})");
  EXPECT_FALSE(ObservedInVain(id).contains("hint"));

  services_.clock().Advance(absl::Seconds(6));
  json patient = arguments;
  patient["wait_ms"] = 30000;
  const json expired = services_.ToolAnswer("observe", patient);
  EXPECT_EQ(expired["error"], "never_delivered");
  EXPECT_THAT(expired["hint"].get<std::string>(), HasSubstr("is connected to target \"browser\""));
}

std::string TokenOf(const std::string& name) { return name + "-" + std::string(40, '0'); }

TokenFile Tokens() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries = {{{"agent", Role::kClient}, TokenOf("agent")},
                  {{"other", Role::kClient}, TokenOf("other")},
                  {{"extension", Role::kWorker}, TokenOf("extension")},
                  {{"boss", Role::kAdmin}, TokenOf("boss")}};
  return file;
}

TEST(WorkersOfManyTest, CommandsOfOthersAreOnlyCounted) {
  TestServices services({}, Tokens());
  const auto call = [&](const std::string& who, const std::string& tool, const json& arguments) {
    McpClient client(services.gateway_address(), "2025-11-25", TokenOf(who));
    return client.CallTool(tool, arguments)["structuredContent"];
  };
  call("agent", "interact", {{"action", "get_page"}});
  call("other", "interact", {{"action", "get_page"}});
  call("other", "interact", {{"action", "get_page"}});
  const auto bearer = [](const std::string& who) { return "Bearer " + TokenOf(who); };
  for (const char* path : {"/worker-status", "/sync", "/logs", "/screenshots"}) {
    EXPECT_EQ(services.Post(path, "{}", {{"Authorization", bearer("agent")}}).status, 403) << path;
  }
  httplib::Client extension(services.gateway_address().host, services.gateway_address().port);
  extension.Get("/pending-queries", {{"Authorization", bearer("extension")}});

  const json own = call("agent", "observe", {{"what", "workers"}})["result"]["workers"][0];
  EXPECT_EQ(own["doing"].size(), 1u);
  EXPECT_EQ(own["doing_for_others"], 2);
  const json all = call("boss", "observe", {{"what", "workers"}})["result"]["workers"][0];
  EXPECT_EQ(all["doing"].size(), 3u);
  EXPECT_FALSE(all.contains("doing_for_others"));
}

}  // namespace
}  // namespace callslip
