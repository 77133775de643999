#include "gateway/mcp/tools/browser_actions.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "common/status_matchers.h"
#include "gateway/mcp/tools/tool_definitions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

// The params, or the error of the arguments.
absl::StatusOr<Json> Read(const std::string& action, const Json& json) {
  Arguments arguments(json);
  Json params = ReadBrowserAction(*FindBrowserAction(action), arguments);
  if (!arguments.status().ok()) return arguments.status();
  return params;
}

TEST(BrowserActionsTest, EachActionAcceptsItsArguments) {
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
  same("page", {{"selector", "e12"}, {"view", "interactive"}, {"after", "e44"}, {"limit", 60'000}});
  same("find", {{"text", "Sign in"}, {"limit", 5}});
  same("click", {{"selector", "e30"}, {"how", "double"}, {"dialog", ""}, {"view", "page"}});
  same("click", {{"x", 300}, {"y", -1}});
  same("type", {{"text", "abc"}});
  same("drag", {{"selector", "e1"}, {"to", "+0,-40"}});
  same("select_text", {{"text", "a word"}});
  same("upload", {{"selector", "e1"}, {"files", {"a.txt", "/tmp/b c.png"}}});
  same("wait_for", {{"url", "**/done"}});
  same("screenshot", {{"marks", true}});
  same("network", {{"text", "17"}});
  same("fill",
       {{"fields",
         {{"e9", ""}, {"#country", "Austria"}, {"e27", true}, {"e28", 3}, {"e30", {"a", "b"}}}}});
}

TEST(BrowserActionsTest, BatchStepIsReadLikeCall) {
  const Json steps = {{{"action", "fill"}, {"fields", {{"e9", "Ada"}}}},
                      {{"action", "press"}, {"key", "Tab"}},
                      {{"action", "wait_for"}, {"text", "Saved"}}};
  ASSERT_OK_AND_ASSIGN(const Json params, Read("batch", {{"steps", steps}, {"tab_id", 7}}));
  EXPECT_EQ(params, (Json{{"action", "batch"}, {"steps", steps}, {"tab_id", 7}}));

  const auto problem = [](const Json& step) {
    const Json good = {{"action", "reload"}};
    return std::string(Read("batch", {{"steps", Json::array({good, step})}}).status().message());
  };
  EXPECT_THAT(problem({{"action", "click"}}), HasSubstr("step 2: one of \"selector\", \"x\""));
  EXPECT_THAT(problem({{"action", "click"}, {"selector", ""}}), HasSubstr("step 2: \"selector\""));
  EXPECT_THAT(problem({{"action", "click"}, {"selector", "a"}, {"text", "b"}}),
              HasSubstr("step 2: \"text\" is not used here"));
  EXPECT_THAT(problem({{"selector", "a"}}), HasSubstr("step 2: \"action\""));
  EXPECT_THAT(problem({{"action", "back"}, {"tab_id", 1}}), HasSubstr("step 2: \"tab_id\""));
  // These arguments belong to the batch.
  EXPECT_THAT(problem({{"action", "click"}, {"selector", "a"}, {"dialog", "accept"}}),
              HasSubstr("step 2: \"dialog\" must stand next to \"steps\", not in a step"));
  EXPECT_THAT(problem({{"action", "back"}, {"view", "none"}}), HasSubstr("step 2: \"view\""));
  for (const char* other : {"batch", "cancel", "open_tab", "close_tab", "draw_mode", "fly"}) {
    EXPECT_THAT(problem({{"action", other}}), HasSubstr("step 2: \"action\" must be one of"));
  }
  for (const Json& wrong : std::vector<Json>{
           "x", Json::object(), Json::array(), {1}, Json::array_t(21, {{"action", "back"}})}) {
    EXPECT_THAT(std::string(Read("batch", {{"steps", wrong}}).status().message()),
                HasSubstr("\"steps\" must be a list of 1 to 20 objects"));
  }
}

TEST(BrowserActionsTest, WrongArgumentsAreNamed) {
  const auto problem = [](const std::string& action, const Json& json) {
    return std::string(Read(action, json).status().message());
  };
  EXPECT_THAT(problem("click", Json::object()), HasSubstr("\"selector\""));
  EXPECT_THAT(problem("click", {{"x", 1}}), HasSubstr("\"x\" and \"y\" go together"));
  EXPECT_THAT(problem("click", {{"selector", "a"}, {"y", 1}}), HasSubstr("go together"));
  EXPECT_THAT(problem("click", {{"selector", "a"}, {"view", "all"}}),
              HasSubstr("changes, page, none"));
  EXPECT_THAT(problem("page", {{"view", "none"}}), HasSubstr("all, interactive, text, urls"));
  EXPECT_THAT(problem("page", {{"limit", 60'001}}), HasSubstr("from 200 to 60000"));
  EXPECT_THAT(problem("drag", {{"selector", "a"}}), HasSubstr("\"to\""));
  EXPECT_THAT(problem("fill", Json::object()), HasSubstr("\"fields\" is required"));
  EXPECT_THAT(problem("fill", {{"fields", Json::object()}}), HasSubstr("1 to 100 members"));
  for (const Json& value : std::vector<Json>{nullptr, Json::object(), {1}}) {
    EXPECT_THAT(problem("fill", {{"fields", {{"e1", value}}}}), HasSubstr("\"fields\" must have"));
  }
  EXPECT_THAT(problem("fill", {{"fields", {{"", "a"}}}}), HasSubstr("\"fields\" must have"));
  for (const Json& files :
       std::vector<Json>{Json::array(), {""}, {std::string(4097, 'a')}, Json::array_t(21, "a")}) {
    EXPECT_THAT(problem("upload", {{"selector", "a"}, {"files", files}}),
                HasSubstr("1 to 20 paths of at most 4096 bytes"));
  }
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
  // An argument of another action.
  EXPECT_THAT(problem("reload", {{"url", "https://example.org"}}), HasSubstr("\"url\""));
}

// The schema of an argument is that of its first action, so the others must not differ.
TEST(BrowserActionsTest, ArgumentHasOneSchemaPerTool) {
  for (const Json& definition : {InteractDefinition(), AnalyzeDefinition()}) {
    const Json& properties = definition["inputSchema"]["properties"];
    const bool acts = properties.contains("action");
    const Json& names = properties[acts ? "action" : "what"]["enum"];
    for (const BrowserAction& action : BrowserActions()) {
      const char* name = acts ? action.name : action.subject;
      const bool is_listed = action.listed && acts == (action.subject == nullptr);
      if (name != nullptr) {
        EXPECT_EQ(absl::c_linear_search(names, name), is_listed) << name;
      }
      for (const BrowserAction::Field& field : action.fields) {
        if (!is_listed || !field.listed) continue;
        Json schema = properties.at(field.name);
        schema.erase("description");
        EXPECT_EQ(schema, SchemaOf(field)) << name << " " << field.name;
      }
    }
  }
}

TEST(BrowserActionsTest, UnknownActionIsNotFound) { EXPECT_EQ(FindBrowserAction("fly"), nullptr); }

}  // namespace
}  // namespace callslip::gateway
