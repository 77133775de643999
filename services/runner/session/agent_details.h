#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

namespace callslip::runner {

// The state that an agent has reported, for later viewers of the session: AgentState.details.
class AgentDetails {
 public:
  // The tracker's limit. ToText() omits members that do not fit, the commands first.
  static constexpr size_t kMaxBytes = size_t{64} << 10;

  // Parses details reported earlier; empty if `text` is not an object.
  static AgentDetails Parse(absl::string_view text);

  void SetAgentInfo(Json info) { Set("agent_info", std::move(info)); }
  void SetModes(Json modes) { Set("modes", std::move(modes)); }
  void SetConfigOptions(Json options) { Set("config_options", std::move(options)); }
  // Why the agent has no Callslip tools.
  void SetNoTools(std::string why) { Set("no_tools", std::move(why)); }
  // A new context was requested, and no agent has begun one yet: the runner that starts the next
  // agent must know.
  void SetFreshWanted(bool wanted) { Set("fresh_wanted", wanted ? Json(true) : Json()); }
  bool fresh_wanted() const;
  // Returns whether the update belonged to the details.
  bool Take(const AgentUpdate& update);

  Json usage() const;
  std::string ToText() const;

  // Earlier choices that differ from the current ones and must be set again: the mode, or empty,
  // and the settings by id with their values; `true` and `false` for booleans.
  std::string ModeToRestore(const AgentDetails& before) const;
  std::vector<std::pair<std::string, std::string>> OptionsToRestore(
      const AgentDetails& before) const;

 private:
  // Null removes the member.
  void Set(const char* name, Json value);

  Json details_ = Json::object();
};

}  // namespace callslip::runner
