#include "runner/acp/messages_v1.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner::acp {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(MessagesV1Test, CapabilitiesAreParsedAndDefaultToUnsupported) {
  const Capabilities nothing = ParseCapabilities(Json::object());
  EXPECT_EQ(nothing.version, 0);
  EXPECT_FALSE(nothing.load || nothing.resume || nothing.close || nothing.images);

  const Capabilities agent = ParseCapabilities(Json::parse(R"({
    "protocolVersion": 1,
    "agentCapabilities": {"loadSession": true, "promptCapabilities": {"image": true},
      "mcpCapabilities": {"http": true},
      "sessionCapabilities": {"resume": {}, "close": {}, "list": null}},
    "authMethods": [{"id": "key", "name": "Key"}, 7,
      {"type": "terminal", "id": "tui", "name": "TUI", "args": ["login", 1],
       "env": {"A": "b", "C": null}},
      {"id": "old", "_meta": {"terminal-auth": {"command": "agent", "args": ["auth"]}}},
      {"type": "new", "id": "new", "args": ["x"]}]})"));
  EXPECT_EQ(agent.version, 1);
  EXPECT_TRUE(agent.load && agent.resume && agent.close && agent.images && agent.http_mcp);
  EXPECT_FALSE(agent.additional_directories);
  ASSERT_EQ(agent.auth_methods.size(), 4u);
  EXPECT_EQ(agent.auth_methods[0].id, "key");
  EXPECT_EQ(agent.auth_methods[0].name, "Key");
  EXPECT_FALSE(agent.auth_methods[0].has_terminal());
  EXPECT_TRUE(agent.auth_methods[1].is_terminal);
  EXPECT_THAT(agent.auth_methods[1].arguments, ElementsAre("login"));
  EXPECT_THAT(agent.auth_methods[1].environment, ElementsAre(Pair("A", "b")));
  EXPECT_EQ(agent.auth_methods[1].program, "");
  EXPECT_FALSE(agent.auth_methods[2].is_terminal);
  EXPECT_EQ(agent.auth_methods[2].program, "agent");
  EXPECT_THAT(agent.auth_methods[2].arguments, ElementsAre("auth"));
  EXPECT_FALSE(agent.auth_methods[3].has_terminal());
}

TEST(MessagesV1Test, OtherProtocolVersionsAreNotMistakenForOurs) {
  for (const char* version :
       {"0", "2", "-1", "4294967297", "-4294967295", "18446744073709551615", "18446744073709551617",
        "1.0", "1e0", "\"1\"", "true", "null", "[1]", "{}"}) {
    EXPECT_NE(ParseCapabilities(Json::parse(absl::StrCat("{\"protocolVersion\": ", version, "}")))
                  .version,
              kProtocolVersion)
        << version;
  }
}

TEST(MessagesV1Test, AdditionalDirectoriesAreSentOnlyToSupportingAgents) {
  const SessionSetup setup = {.directory = "/src", .additional_directories = {"/lib"}};
  EXPECT_EQ(NewSessionParams(setup, {}), Json::parse(R"({"cwd": "/src", "mcpServers": []})"));
  EXPECT_EQ(RestoreParams("s", setup, {.additional_directories = true}),
            Json::parse(R"({"cwd": "/src", "mcpServers": [], "sessionId": "s",
                            "additionalDirectories": ["/lib"]})"));
}

template <typename T>
T Parsed(const char* update) {
  const AgentUpdate parsed = ParseUpdate(Json::parse(update));
  const T* const as = std::get_if<T>(&parsed);
  EXPECT_NE(as, nullptr) << update;
  return as == nullptr ? T() : *as;
}

TEST(MessagesV1Test, EachKindOfUpdateIsParsed) {
  const auto piece = Parsed<MessagePiece>(
      R"({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"},
          "messageId": "m"})");
  EXPECT_EQ(piece.role, MessagePiece::Role::kThought);
  EXPECT_EQ(piece.message_id, "m");
  EXPECT_EQ(piece.content["text"], "hm");
  const auto call = Parsed<ToolCall>(
      R"({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "kind": "read",
          "locations": [{"path": "/a"}], "rawInput": {"path": "/a"}})");
  EXPECT_EQ(call.status, "pending");
  EXPECT_EQ(call.locations.size(), 1);
  EXPECT_TRUE(call.raw_output.is_null());
  const auto change = Parsed<ToolCallChange>(
      R"({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"})");
  EXPECT_EQ(change.status, "completed");
  EXPECT_FALSE(change.title.has_value());
  EXPECT_EQ(Parsed<Plan>(R"({"sessionUpdate": "plan", "entries": [{"content": "a"}]})")
                .entries.at(0)
                .content,
            "a");
  EXPECT_EQ(Parsed<CurrentMode>(R"({"sessionUpdate": "current_mode_update",
                                    "currentModeId": "ask"})")
                .mode_id,
            "ask");
  EXPECT_TRUE(Parsed<AvailableCommands>(
                  R"({"sessionUpdate": "available_commands_update", "availableCommands": []})")
                  .commands.is_array());
  EXPECT_TRUE(
      Parsed<ConfigOptions>(R"({"sessionUpdate": "config_option_update", "configOptions": []})")
          .options.is_array());
  EXPECT_EQ(Parsed<SessionTitle>(R"({"sessionUpdate": "session_info_update", "title": "T"})").title,
            "T");
  EXPECT_EQ(Parsed<Usage>(R"({"sessionUpdate": "usage_update", "used": 1, "size": 2})").usage,
            Json::parse(R"({"used": 1, "size": 2})"));
}

TEST(MessagesV1Test, UnknownUpdatesAreRetained) {
  EXPECT_EQ(Parsed<OtherUpdate>(R"({"sessionUpdate": "notice", "title": "x"})").kind, "notice");
  for (const char* update : {"null", "1", "\"text\"", "[]", "{}", R"({"sessionUpdate": 7})"}) {
    EXPECT_EQ(Parsed<OtherUpdate>(update).kind, "");
  }
  // Of a known kind, with only wrong members.
  Parsed<ToolCall>(R"({"sessionUpdate": "tool_call", "toolCallId": 1, "title": []})");
  EXPECT_TRUE(Parsed<Plan>(R"({"sessionUpdate": "plan", "entries": "none"})").entries.empty());
}

TEST(MessagesV1Test, PermissionQuestionIsParsedAndAnswerIsFormatted) {
  const PermissionQuestion question = ParsePermission(Json::parse(R"({
    "toolCall": {"toolCallId": "t", "kind": "edit", "title": "Edit"},
    "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}, 3]})"));
  EXPECT_EQ(question.tool_call.kind, "edit");
  ASSERT_EQ(question.options.size(), 1);  // Only an object can be an option.
  EXPECT_EQ(question.options[0].kind, "allow_once");
  EXPECT_EQ(PermissionAnswer("a"),
            Json::parse(R"({"outcome": {"outcome": "selected", "optionId": "a"}})"));
  EXPECT_EQ(PermissionAnswer(std::nullopt),
            Json::parse(R"({"outcome": {"outcome": "cancelled"}})"));
}

TEST(MessagesV1Test, BooleanOptionsAreSetAsBooleans) {
  const Json options = Json::parse(R"([{"id": "brief", "type": "boolean"},
                                       {"id": "model", "type": "select"}])");
  EXPECT_EQ(ConfigOptionParams("s", "brief", "true", options),
            Json::parse(R"({"sessionId": "s", "configId": "brief", "type": "boolean",
                            "value": true})"));
  EXPECT_EQ(ConfigOptionParams("s", "model", "true", options)["value"], "true");
}

}  // namespace
}  // namespace callslip::runner::acp
