#include "gateway/mcp/browser_actions.h"

#include <set>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gateway/mcp/tool_definitions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

// The params, or what is wrong.
absl::StatusOr<Json> Read(const std::string& action, const Json& json) {
  Arguments arguments(json);
  Json params = ReadBrowserAction(*FindBrowserAction(action), arguments);
  if (!arguments.status().ok()) return arguments.status();
  return params;
}

TEST(BrowserActionsTest, EachTakesItsOwnArguments) {
  const auto same = [](const std::string& action, const Json& json) {
    Json expected = json;
    expected["action"] = action;
    ASSERT_OK_AND_ASSIGN(const Json params, Read(action, json));
    EXPECT_EQ(params, expected);
  };
  same("execute_js", {{"script", "1"}, {"tab_id", 7}});
  same("navigate", {{"url", "https://example.org"}});
  same("back", {{"tab_id", 0}});
  same("query", {{"text", "Sign in"}, {"limit", 100}});
  same("type", {{"selector", "#a"}, {"text", ""}, {"clear", true}});
  same("select", {{"selector", "#a"}, {"value", ""}});
  same("select", {{"selector", "#a"}, {"label", "Pear"}});
  same("select", {{"selector", "#a"}, {"values", {"1", ""}}});
  same("select", {{"selector", "#a"}, {"values", Json::array()}});
  same("press", {{"key", "Enter"}});
  same("scroll", {{"dy", -800}});
  same("wait_for", {{"selector", "#a"}, {"state", "hidden"}});
  same("screenshot", {{"full_page", true}});
  same("screenshot", {{"full_page", false}, {"selector", "#a"}});
  same("scroll", {{"x", 0}, {"y", 300}});
  same("console", {{"limit", 200}, {"level", "warn"}});
  same("network", {{"url_contains", "/api/"}});
  same("list_tabs", Json::object());
  same("open_tab", {{"url", "https://example.org"}, {"background", true}});
  for (const char* url : {"http://127.0.0.1:8080/a?b#c", "HTTPS://EXAMPLE.ORG", "about:blank"}) {
    same("navigate", {{"url", url}});
  }
  same("close_tab", {{"tab_id", 7}});
}

TEST(BrowserActionsTest, WrongArgumentsAreNamed) {
  const auto problem = [](const std::string& action, const Json& json) {
    return std::string(Read(action, json).status().message());
  };
  EXPECT_THAT(problem("click", Json::object()), HasSubstr("\"selector\""));
  EXPECT_THAT(problem("type", {{"selector", "#a"}}), HasSubstr("\"text\""));
  EXPECT_THAT(problem("query", Json::object()), HasSubstr("\"selector\", \"text\""));
  EXPECT_THAT(problem("select", {{"selector", "#a"}}),
              HasSubstr("\"value\", \"values\", \"label\""));
  EXPECT_THAT(problem("select", {{"selector", "#a"}, {"value", ""}, {"label", "A"}}),
              HasSubstr("\"value\" and \"label\""));
  for (const Json& values : std::vector<Json>{"1", 1, {1}, {"1", nullptr}}) {
    EXPECT_THAT(problem("select", {{"selector", "#a"}, {"values", values}}),
                HasSubstr("\"values\" must be a list of strings"));
  }
  EXPECT_THAT(problem("query", {{"text", ""}}), HasSubstr("must not be empty"));
  EXPECT_THAT(problem("query", {{"text", "a"}, {"limit", 101}}), HasSubstr("from 1 to 100"));
  EXPECT_THAT(problem("scroll", {{"tab_id", 1}}), HasSubstr("\"dy\""));
  EXPECT_THAT(problem("wait_for", {{"text", "a"}, {"state", "gone"}}), HasSubstr("visible"));
  EXPECT_THAT(problem("close_tab", Json::object()), HasSubstr("\"tab_id\" is required"));
  EXPECT_THAT(problem("screenshot", {{"selector", "#a"}, {"full_page", true}}),
              HasSubstr("\"selector\" and \"full_page\""));
  EXPECT_THAT(problem("console", {{"level", "loud"}}), HasSubstr("debug, log, info, warn, error"));
  for (const char* action : {"navigate", "open_tab"}) {
    for (const char* url :
         {"javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,x", "file:///etc/passwd",
          "chrome://settings", "about:config", "example.org", "/second", "http", ":http://a", ""}) {
      EXPECT_THAT(problem(action, {{"url", url}}), HasSubstr("\"url\"")) << url;
    }
  }
  // Of another action.
  EXPECT_THAT(problem("reload", {{"url", "https://example.org"}}), HasSubstr("\"url\""));
}

TEST(BrowserActionsTest, AgentsAreToldOfEach) {
  const Json& schema = InteractDefinition()["inputSchema"]["properties"];
  std::set<std::string> told = schema["action"]["enum"];
  for (const std::string& name : BrowserActionNames()) {
    EXPECT_EQ(told.erase(name), 1) << name;
    for (const BrowserAction::Field& field : FindBrowserAction(name)->fields) {
      EXPECT_TRUE(schema.contains(field.name)) << name << "." << field.name;
    }
  }
  EXPECT_EQ(told, std::set<std::string>{"cancel"});
}

TEST(BrowserActionsTest, UnknownOnesAreNotThere) { EXPECT_EQ(FindBrowserAction("fly"), nullptr); }

}  // namespace
}  // namespace callslip::gateway
