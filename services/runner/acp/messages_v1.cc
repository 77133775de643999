#include "runner/acp/messages_v1.h"

#include <optional>

namespace callslip::runner::acp {
namespace {

constexpr char kTerminalAuth[] = "terminal-auth";

std::optional<std::string> OptionalText(const Json& json, const char* name) {
  const Json& text = MemberOf(json, name);
  if (!text.is_string()) return std::nullopt;
  return text.get<std::string>();
}

// An empty object also indicates support.
bool IsThere(const Json& json, const char* name) {
  const Json& member = MemberOf(json, name);
  return member.is_object() || member == true;
}

ToolCallChange ParseChange(const Json& call) {
  return {.id = TextOf(call, "toolCallId"),
          .title = OptionalText(call, "title"),
          .name = OptionalText(call, "name"),
          .kind = OptionalText(call, "kind"),
          .status = OptionalText(call, "status"),
          .content = MemberOf(call, "content"),
          .locations = MemberOf(call, "locations"),
          .raw_input = MemberOf(call, "rawInput"),
          .raw_output = MemberOf(call, "rawOutput")};
}

ToolCall ParseCall(const Json& call) {
  return {.id = TextOf(call, "toolCallId"),
          .title = TextOf(call, "title"),
          .name = TextOf(call, "name"),
          .kind = TextOf(call, "kind"),
          .status = OptionalText(call, "status").value_or("pending"),
          .content = MemberOf(call, "content"),
          .locations = MemberOf(call, "locations"),
          .raw_input = MemberOf(call, "rawInput"),
          .raw_output = MemberOf(call, "rawOutput")};
}

AuthMethod ParseAuthMethod(const Json& method) {
  AuthMethod parsed;
  parsed.id = TextOf(method, "id");
  parsed.name = TextOf(method, "name");
  parsed.description = TextOf(method, "description");
  parsed.is_terminal = TextOf(method, "type") == "terminal";
  const Json before = MemberOf(MemberOf(method, "_meta"), kTerminalAuth);
  const Json& how = parsed.is_terminal ? method : before;
  if (!parsed.is_terminal) parsed.program = TextOf(how, "command");
  if (!parsed.has_terminal()) return parsed;
  for (const Json& argument : MemberOf(how, "args")) {
    if (argument.is_string()) parsed.arguments.push_back(argument.get<std::string>());
  }
  const Json environment = MemberOf(how, "env");
  if (!environment.is_object()) return parsed;
  for (const auto& [name, value] : environment.items()) {
    if (value.is_string()) parsed.environment[name] = value.get<std::string>();
  }
  return parsed;
}

Plan ParsePlan(const Json& update) {
  Plan plan;
  for (const Json& entry : MemberOf(update, "entries")) {
    if (!entry.is_object()) continue;
    plan.entries.push_back(
        {TextOf(entry, "content"), TextOf(entry, "priority"), TextOf(entry, "status")});
  }
  return plan;
}

std::optional<MessagePiece::Role> RoleOf(absl::string_view kind) {
  if (kind == "user_message_chunk") return MessagePiece::Role::kUser;
  if (kind == "agent_message_chunk") return MessagePiece::Role::kAgent;
  if (kind == "agent_thought_chunk") return MessagePiece::Role::kThought;
  return std::nullopt;
}

}  // namespace

Json InitializeParams(const Offer& offer) {
  return {
      {"protocolVersion", kProtocolVersion},
      {"clientCapabilities",
       {{"fs", {{"readTextFile", offer.files}, {"writeTextFile", offer.files}}},
        {"terminal", offer.terminals},
        // The login runs in callslip-runner login.
        {"auth", {{"terminal", true}}},
        {"_meta", {{kTerminalAuth, true}}}}},
      {"clientInfo", {{"name", "callslip"}, {"title", "Callslip"}, {"version", offer.version}}}};
}

Capabilities ParseCapabilities(const Json& result) {
  Capabilities agent;
  const Json& version = MemberOf(result, "protocolVersion");
  if (version.is_number_integer()) agent.version = version.get<int64_t>();
  const Json& can = MemberOf(result, "agentCapabilities");
  const Json& sessions = MemberOf(can, "sessionCapabilities");
  agent.load = IsTrue(can, "loadSession");
  agent.resume = IsThere(sessions, "resume");
  agent.close = IsThere(sessions, "close");
  agent.additional_directories = IsThere(sessions, "additionalDirectories");
  agent.images = IsTrue(MemberOf(can, "promptCapabilities"), "image");
  agent.http_mcp = IsTrue(MemberOf(can, "mcpCapabilities"), "http");
  for (const Json& method : MemberOf(result, "authMethods")) {
    if (!method.is_object()) continue;
    agent.auth_methods.push_back(ParseAuthMethod(method));
  }
  agent.agent_info = MemberOf(result, "agentInfo");
  return agent;
}

Json NewSessionParams(const SessionSetup& setup, const Capabilities& agent) {
  Json params = {{"cwd", setup.directory}, {"mcpServers", setup.mcp_servers}};
  if (!setup.additional_directories.empty() && agent.additional_directories) {
    params["additionalDirectories"] = setup.additional_directories;
  }
  return params;
}

Json RestoreParams(absl::string_view session_id, const SessionSetup& setup,
                   const Capabilities& agent) {
  Json params = NewSessionParams(setup, agent);
  params["sessionId"] = std::string(session_id);
  return params;
}

Json TextBlock(absl::string_view text) { return {{"type", "text"}, {"text", std::string(text)}}; }

Json ImageBlock(absl::string_view mime_type, std::string base64) {
  return {{"type", "image"}, {"mimeType", std::string(mime_type)}, {"data", std::move(base64)}};
}

Json PromptParams(absl::string_view session_id, Json blocks, absl::string_view traceparent) {
  Json params = {{"sessionId", std::string(session_id)}, {"prompt", std::move(blocks)}};
  if (!traceparent.empty()) params["_meta"] = {{"traceparent", std::string(traceparent)}};
  return params;
}

Json ConfigOptionParams(absl::string_view session_id, absl::string_view id, absl::string_view value,
                        const Json& options) {
  Json params = {{"sessionId", std::string(session_id)},
                 {"configId", std::string(id)},
                 {"value", std::string(value)}};
  for (const Json& option : options) {
    if (TextOf(option, "id") != id || TextOf(option, "type") != "boolean") continue;
    params["type"] = "boolean";
    params["value"] = value == "true";
  }
  return params;
}

AgentUpdate ParseUpdate(const Json& update) {
  const std::string kind = TextOf(update, "sessionUpdate");
  if (const std::optional<MessagePiece::Role> role = RoleOf(kind); role.has_value()) {
    return MessagePiece{*role, MemberOf(update, "content"), TextOf(update, "messageId")};
  }
  if (kind == "tool_call") return ParseCall(update);
  if (kind == "tool_call_update") return ParseChange(update);
  if (kind == "plan") return ParsePlan(update);
  if (kind == "available_commands_update") {
    return AvailableCommands{MemberOf(update, "availableCommands")};
  }
  if (kind == "current_mode_update") return CurrentMode{TextOf(update, "currentModeId")};
  if (kind == "config_option_update") return ConfigOptions{MemberOf(update, "configOptions")};
  if (kind == "session_info_update" && MemberOf(update, "title").is_string()) {
    return SessionTitle{TextOf(update, "title")};
  }
  if (kind == "usage_update") {
    Json usage = update;
    usage.erase("sessionUpdate");
    return Usage{std::move(usage)};
  }
  return OtherUpdate{kind, update};
}

PermissionQuestion ParsePermission(const Json& params) {
  const Json& call = MemberOf(params, "toolCall");
  PermissionQuestion question{.tool_call = ParseChange(call), .details = call};
  for (const Json& option : MemberOf(params, "options")) {
    if (!option.is_object()) continue;
    question.options.push_back(
        {TextOf(option, "optionId"), TextOf(option, "name"), TextOf(option, "kind")});
  }
  return question;
}

Json PermissionAnswer(const PermissionChoice& choice) {
  if (!choice.has_value()) return {{"outcome", {{"outcome", "cancelled"}}}};
  return {{"outcome", {{"outcome", "selected"}, {"optionId", *choice}}}};
}

PromptEnd ParsePromptEnd(const Json& result) {
  return {TextOf(result, "stopReason"), MemberOf(result, "usage")};
}

}  // namespace callslip::runner::acp
