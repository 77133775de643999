#include "gateway/extension/sync_command.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

v1::CommandLease Lease(const Json& params, const std::string& type = "x") {
  v1::CommandLease lease;
  lease.mutable_command()->set_command_id("corr-1");
  lease.mutable_command()->set_type(type);
  lease.mutable_command()->set_params(Dump(params));
  lease.set_lease_token("lease-2");
  lease.mutable_start_to_close()->set_seconds(10);
  return lease;
}

// The command for an extension whose user tracks tab 12, unless `caller` differs.
Json Command(const Json& params, const SyncRequest& caller = {.tracked_tab_id = 12}) {
  const auto command = SyncCommand(Lease(params), caller);
  EXPECT_TRUE(std::holds_alternative<Json>(command)) << params;
  return std::holds_alternative<Json>(command) ? std::get<Json>(command) : Json();
}

std::string RefusalOf(const Json& params, const SyncRequest& caller = {.tracked_tab_id = 12}) {
  const auto command = SyncCommand(Lease(params), caller);
  const auto* error = std::get_if<v1::CommandError>(&command);
  if (error == nullptr) return "";
  EXPECT_FALSE(error->may_have_executed());
  EXPECT_NE(error->message(), "");
  EXPECT_NE(error->hint(), "");
  return error->code();
}

TEST(SyncCommandTest, TranslatesActionsForExtension) {
  struct Case {
    Json ours;
    std::string type;
    Json params;
  };
  for (const Case& each : std::vector<Case>{
           {{{"action", "execute_js"}, {"script", "1"}},
            "execute",
            {{"script", "1"}, {"timeout_ms", 10000}, {"world", "auto"}}},
           {{{"action", "navigate"}, {"url", "http://x/"}},
            "browser_action",
            {{"action", "navigate"}, {"url", "http://x/"}}},
           {{{"action", "click"}, {"selector", "#a"}},
            "dom_action",
            {{"action", "click"}, {"selector", "#a"}}},
           {{{"action", "type"}, {"selector", "#a"}, {"text", "t"}},
            "dom_action",
            {{"action", "type"}, {"selector", "#a"}, {"text", "t"}, {"clear", false}}},
           {{{"action", "type"}, {"selector", "#a"}, {"text", ""}, {"clear", true}},
            "dom_action",
            {{"action", "type"}, {"selector", "#a"}, {"text", ""}, {"clear", true}}},
           {{{"action", "screenshot"}}, "screenshot", {{"format", "png"}}},
       }) {
    const Json command = Command(each.ours);
    EXPECT_EQ(command, (Json{{"id", "corr-1/lease-2"},
                             {"correlation_id", "corr-1"},
                             {"type", each.type},
                             {"params", each.params}}));
  }
}

TEST(SyncCommandTest, PageIsReadByScript) {
  const Json command = Command({{"action", "get_page"}});
  EXPECT_EQ(command["type"], "execute");
  EXPECT_THAT(command["params"]["script"].get<std::string>(), HasSubstr("document.title"));
}

TEST(SyncCommandTest, UnsupportedActionIsRefused) {
  EXPECT_EQ(RefusalOf({{"action", "draw_mode"}}), "unknown_action");
  EXPECT_EQ(RefusalOf("no object"), "unknown_action");
  EXPECT_EQ(std::get<Json>(SyncCommand(Lease(Json::object(), "get_page"), {}))["type"], "execute");
}

TEST(SyncCommandTest, CommandForUntrackedTabIsRefused) {
  const Json in_tab_7 = {{"action", "get_page"}, {"tab_id", 7}};
  const Json in_tab_12 = {{"action", "get_page"}, {"tab_id", 12}};
  EXPECT_EQ(RefusalOf(in_tab_7), "tab_not_tracked");
  EXPECT_EQ(RefusalOf(in_tab_7, {}), "tab_not_tracked");
  EXPECT_EQ(Command(in_tab_12)["tab_id"], 12);
  EXPECT_EQ(Command(in_tab_7, {.may_be_held = true})["tab_id"], 7);
}

TEST(SyncCommandTest, DefaultTabIsTrackedOrActiveTab) {
  const Json params = {{"action", "get_page"}};
  EXPECT_FALSE(Command(params)["params"].contains("use_active_tab"));
  EXPECT_EQ(Command(params, {.may_be_held = true})["params"]["use_active_tab"], true);
}

}  // namespace
}  // namespace callslip::gateway
