// Tools and results as MCP clients see them.
//
// The files in tests/golden have the answers to tools/list. After an intended change:
//   CALLSLIP_UPDATE_GOLDEN=1 build/dev/test_bin/integration_test --gtest_filter='*Golden*'
// and read the difference as a model would.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/json_schema.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::vector<std::string> kVersions = {"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};

class McpToolsTest : public testing::Test {
 protected:
  McpClient Client(const std::string& version) { return {services_.gateway_address(), version}; }

  // The id of a command that has completed with `result`.
  std::string CommandWith(const json& result) {
    const std::string id =
        services_.ToolAnswer("interact", {{"action", "screenshot"}})["correlation_id"];
    services_.Get("/pending-queries");
    services_.Post("/query-result",
                   json{{"correlation_id", id}, {"status", "complete"}, {"result", result}}.dump());
    return id;
  }
  static json Question(const std::string& id) {
    return {{"what", "command_result"}, {"correlation_id", id}};
  }

  TestServices services_;
};

// Two agents of one client, as at a gateway without tokens.
TEST_F(McpToolsTest, AgentsOfSameClientDistinguishTheirCommands) {
  McpClient first = Client("2025-11-25");
  McpClient second = Client("2025-06-18");
  McpClient modern = Client(kModern);
  const auto hand_in = [](McpClient& client, const json& arguments) {
    return client.CallTool("interact", arguments)["structuredContent"]["correlation_id"];
  };
  const auto list = [](McpClient& client, json arguments) {
    arguments["what"] = "pending_commands";
    return client.CallTool("observe", arguments)["structuredContent"]["pending"];
  };
  const json get_page = {{"action", "get_page"}, {"request_id", "r"}};
  const json of_first = hand_in(first, get_page);
  const json of_second = hand_in(second, {{"action", "get_page"}});
  const json of_modern = hand_in(modern, {{"action", "get_page"}});

  // An agent that reconnects with another session finds all its commands.
  const json all = list(second, json::object());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2]["correlation_id"], of_first);
  const std::string session = all[2]["session"];
  EXPECT_EQ(session.size(), 8u);
  EXPECT_FALSE(all[0].contains("session"));
  // In whatever session, the same call is the same command.
  EXPECT_EQ(hand_in(second, get_page), of_first);

  ASSERT_EQ(list(first, {{"session", "mine"}}).size(), 1u);
  EXPECT_EQ(list(first, {{"session", "mine"}})[0]["correlation_id"], of_first);
  ASSERT_EQ(list(second, {{"session", "mine"}}).size(), 1u);
  EXPECT_EQ(list(second, {{"session", "mine"}})[0]["correlation_id"], of_second);
  EXPECT_EQ(list(modern, {{"session", session}})[0]["correlation_id"], of_first);
  const json refused =
      modern.CallTool("observe", {{"what", "pending_commands"}, {"session", "mine"}});
  EXPECT_EQ(refused["structuredContent"]["error"], "invalid_arguments");
}

// tools/list.

TEST_F(McpToolsTest, ToolListMatchesGoldenFiles) {
  for (const std::string version : {"2025-11-25", "2026-07-28"}) {
    json result = Client(version).Result("tools/list");
    if (result.contains("_meta")) {
      // Each release changes only the version.
      result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] = "VERSION";
    }
    const std::string path = std::string(CALLSLIP_GOLDEN_DIR) + "/tools_list_" + version + ".json";
    const std::string text = result.dump(2) + "\n";
    if (std::getenv("CALLSLIP_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    const std::string golden(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(text, golden) << path << ": see the head of this file.";
  }
}

TEST_F(McpToolsTest, ToolListIsSmall) {
  for (const std::string& version : kVersions) {
    const size_t bytes = Client(version).Result("tools/list").dump().size();
    EXPECT_LE(bytes / 4, 1200u) << version;
  }
}

TEST_F(McpToolsTest, TaskSupportIsListedOnlyInVersionThatHasIt) {
  for (const std::string& version : kVersions) {
    const json tools = Client(version).Result("tools/list")["tools"];
    ASSERT_EQ(tools.size(), 4u);
    for (const json& tool : tools) {
      const bool hands_in = tool["name"] == "interact" || tool["name"] == "analyze";
      const bool told = version == "2025-11-25" && hands_in;
      EXPECT_EQ(tool.contains("execution"), told) << version << tool["name"];
    }
  }
}

TEST_F(McpToolsTest, AnalyzeSubmitsReadOnlyActions) {
  const std::vector<std::pair<json, std::string>> looks = {
      {{{"what", "page"}, {"view", "text"}}, "page"},
      {{{"what", "find"}, {"text", "a"}}, "find"},
      {{{"what", "screenshot"}, {"full_page", true}}, "screenshot"},
      {{{"what", "console"}}, "console"},
      {{{"what", "network"}, {"limit", 5}}, "network"},
      {{{"what", "tabs"}}, "list_tabs"}};
  for (const auto& [look, action] : looks) {
    const std::string id = services_.ToolAnswer("analyze", look)["correlation_id"];
    const json command = services_.Get("/pending-queries").body[0];
    json params = look;
    params.erase("what");
    params["action"] = action;
    EXPECT_EQ(command["params"], params);
    services_.Post("/query-result", json{{"correlation_id", id}, {"status", "complete"}}.dump());
  }
  EXPECT_EQ(services_.ToolAnswer("analyze", {{"what", "dreams"}})["error"], "invalid_arguments");
  EXPECT_EQ(services_.ToolAnswer("analyze", {{"what", "page"}, {"text", "a"}})["error"],
            "invalid_arguments");
}

// Results.

TEST_F(McpToolsTest, AnswersFitToolSchemaAndStaySmall) {
  McpClient client = Client("2025-11-25");
  const json tools = client.Result("tools/list")["tools"];
  const auto check = [&](int tool, const json& arguments) {
    const json answer = client.CallTool(tools[tool]["name"], arguments);
    // Analyze has the same output schema as interact.
    ExpectValid(answer["structuredContent"], tools[0]["outputSchema"], arguments.dump());
    // The entries of a list are its payload, which the text repeats.
    json beside = answer["structuredContent"];
    for (const char* list : {"pending", "completed", "failed", "commands"}) beside.erase(list);
    const bool is_list = beside.size() < answer["structuredContent"].size();
    EXPECT_LE((is_list ? beside : answer).dump().size(), 300u * 4) << answer;
    return answer["structuredContent"];
  };
  const int interact = 0, observe = 1, analyze = 2;
  const json call = {{"action", "click"}, {"selector", "a"}, {"request_id", "once"}};
  const json queued = check(interact, call);
  EXPECT_EQ(queued["status"], "queued");
  EXPECT_EQ(check(interact, call)["status"], "pending");
  EXPECT_EQ(check(analyze, {{"what", "page"}})["status"], "queued");
  EXPECT_EQ(check(observe, Question(CommandWith(1)))["status"], "complete");
  EXPECT_EQ(check(interact,
                  {{"action", "cancel"}, {"correlation_id", queued["correlation_id"]}})["status"],
            "cancelled");
  EXPECT_EQ(check(observe, Question(queued["correlation_id"]))["status"], "cancelled");
  EXPECT_EQ(check(observe, Question("nobody"))["error"], "unknown_command");
  EXPECT_EQ(check(observe, {{"what", "pending_commands"}})["status"], "complete");
  EXPECT_EQ(check(observe, {{"what", "failed_commands"}})["commands"].size(), 1u);
  EXPECT_EQ(check(interact, {{"action", "fly"}})["error"], "invalid_arguments");
}

TEST_F(McpToolsTest, ScreenshotIsImageAndBlob) {
  const std::string id = CommandWith({{"mime_type", "image/png"}, {"base64", "iVBORw0KGgo="}});
  for (const std::string& version : kVersions) {
    McpClient client = Client(version);
    const json content = client.CallTool("observe", Question(id))["content"];
    ASSERT_EQ(content.size(), 2u);
    EXPECT_EQ(content[1],
              (json{{"type", "image"}, {"data", "iVBORw0KGgo="}, {"mimeType", "image/png"}}));
    const std::string uri = "callslip://result/" + id;
    EXPECT_EQ(client.Result("resources/read", {{"uri", uri}})["contents"],
              json::array({{{"uri", uri}, {"mimeType", "image/png"}, {"blob", "iVBORw0KGgo="}}}));
  }
}

TEST_F(McpToolsTest, LargeResultIsReadAsResource) {
  const std::string payload(1 << 20, 'x');
  const std::string id = CommandWith(payload);
  const std::string uri = "callslip://result/" + id;
  for (const std::string& version : kVersions) {
    McpClient client = Client(version);
    const json answer = client.CallTool("observe", Question(id));
    EXPECT_LT(answer.dump().size(), 1200u);
    EXPECT_EQ(answer["structuredContent"]["resource"], uri);
    EXPECT_THAT(answer["content"][0]["text"].get<std::string>(), HasSubstr(uri));
    // The first version does not have this content type, and its clients would reject the whole
    // answer.
    ASSERT_EQ(answer["content"].size(), version == "2025-03-26" ? 1u : 2u);
    if (version != "2025-03-26") {
      EXPECT_EQ(answer["content"][1]["type"], "resource_link");
    }
    const json contents = client.Result("resources/read", {{"uri", uri}})["contents"];
    EXPECT_EQ(json::parse(contents[0]["text"].get<std::string>()), payload);
    EXPECT_EQ(contents[0]["mimeType"], "application/json");
  }
}

TEST_F(McpToolsTest, ResultsAreListedAsResources) {
  const std::string id = CommandWith(1);
  for (const std::string& version : kVersions) {
    McpClient client = Client(version);
    const json resources = client.Result("resources/list")["resources"];
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0]["uri"], "callslip://result/" + id);
    EXPECT_EQ(resources[0]["name"], id);
    const json templates = client.Result("resources/templates/list")["resourceTemplates"];
    EXPECT_EQ(templates[0]["uriTemplate"], "callslip://result/{correlation_id}");
  }
}

TEST_F(McpToolsTest, MissingResourcesAreNotFound) {
  const std::string queued =
      services_.ToolAnswer("interact", {{"action", "get_page"}})["correlation_id"];
  for (const std::string& uri :
       {"callslip://result/" + queued, std::string("callslip://result/"),
        std::string("callslip://result/nobody"), std::string("file:///etc/passwd")}) {
    for (const std::string& version : kVersions) {
      // The newest version does not define the older code.
      EXPECT_EQ(Client(version).ErrorCode("resources/read", {{"uri", uri}}),
                version == "2026-07-28" ? -32602 : -32002)
          << uri;
    }
  }
}

}  // namespace
}  // namespace callslip
