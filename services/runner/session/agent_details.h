#ifndef CALLSLIP_RUNNER_SESSION_AGENT_DETAILS_H_
#define CALLSLIP_RUNNER_SESSION_AGENT_DETAILS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

namespace callslip::runner {

// What an agent has told of itself, for whoever looks at the session later: AgentState.details.
class AgentDetails {
 public:
  // What the tracker takes of it; what does not fit is left out, the commands first.
  static constexpr size_t kMaxBytes = size_t{64} << 10;

  // As they were told before; empty where that is no object.
  static AgentDetails Parse(absl::string_view text);

  void SetAgentInfo(Json info) { Set("agent_info", std::move(info)); }
  void SetModes(Json modes) { Set("modes", std::move(modes)); }
  void SetConfigOptions(Json options) { Set("config_options", std::move(options)); }
  // Why it has none of the gateway's.
  void SetNoTools(std::string why) { Set("no_tools", std::move(why)); }
  // Somebody wants a new context, and no agent has begun one yet: whichever runner starts the next
  // one has to know.
  void SetFreshWanted(bool wanted) { Set("fresh_wanted", wanted ? Json(true) : Json()); }
  bool fresh_wanted() const;
  // Whether the update was about it.
  bool Take(const AgentUpdate& update);

  Json usage() const;
  std::string ToText() const;

  // What was chosen before and is chosen no longer, to be chosen again: the mode, or nothing, and
  // settings by their ids and values, `true` and `false` for those that are on or off.
  std::string ModeToRestore(const AgentDetails& before) const;
  std::vector<std::pair<std::string, std::string>> OptionsToRestore(
      const AgentDetails& before) const;

 private:
  // Null removes it.
  void Set(const char* name, Json value);

  Json details_ = Json::object();
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_AGENT_DETAILS_H_
