#include "runner/session/agent_details.h"

#include <variant>

#include "common/json_members.h"

namespace callslip::runner {
namespace {

std::string ValueText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_boolean() ? (value.get<bool>() ? "true" : "false") : "";
}

}  // namespace

AgentDetails AgentDetails::Parse(absl::string_view text) {
  AgentDetails details;
  Json parsed = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object()) details.details_ = std::move(parsed);
  return details;
}

void AgentDetails::Set(const char* name, Json value) {
  if (value.is_null()) {
    details_.erase(name);
  } else {
    details_[name] = std::move(value);
  }
}

bool AgentDetails::Take(const AgentUpdate& update) {
  if (const auto* commands = std::get_if<AvailableCommands>(&update)) {
    Set("commands", commands->commands);
  } else if (const auto* mode = std::get_if<CurrentMode>(&update)) {
    Json modes = MemberOf(details_, "modes");
    if (!modes.is_object()) modes = Json::object();
    modes["currentModeId"] = mode->mode_id;
    SetModes(std::move(modes));
  } else if (const auto* options = std::get_if<ConfigOptions>(&update)) {
    SetConfigOptions(options->options);
  } else if (const auto* usage = std::get_if<Usage>(&update)) {
    Set("usage", usage->usage);
  } else {
    return false;
  }
  return true;
}

bool AgentDetails::fresh_wanted() const { return IsTrue(details_, "fresh_wanted"); }

Json AgentDetails::usage() const { return MemberOf(details_, "usage"); }

std::string AgentDetails::ToText() const {
  std::string text = Dump(details_);
  Json less = details_;
  for (const char* name : {"commands", "modes", "config_options", "agent_info", "usage"}) {
    if (text.size() <= kMaxBytes) break;
    less.erase(name);
    text = Dump(less);
  }
  return text;
}

std::string AgentDetails::ModeToRestore(const AgentDetails& before) const {
  const auto mode_of = [](const AgentDetails& details) {
    return TextOf(MemberOf(details.details_, "modes"), "currentModeId");
  };
  const std::string wanted = mode_of(before);
  if (wanted.empty() || wanted == mode_of(*this)) return "";
  for (const Json& mode : MemberOf(MemberOf(details_, "modes"), "availableModes")) {
    if (TextOf(mode, "id") == wanted) return wanted;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> AgentDetails::OptionsToRestore(
    const AgentDetails& before) const {
  std::vector<std::pair<std::string, std::string>> to_set;
  for (const Json& option : MemberOf(details_, "config_options")) {
    for (const Json& old : MemberOf(before.details_, "config_options")) {
      if (TextOf(old, "id") != TextOf(option, "id")) continue;
      const std::string wanted = ValueText(MemberOf(old, "currentValue"));
      if (wanted.empty() || wanted == ValueText(MemberOf(option, "currentValue"))) continue;
      to_set.emplace_back(TextOf(option, "id"), wanted);
    }
  }
  return to_set;
}

}  // namespace callslip::runner
