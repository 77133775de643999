#ifndef CALLSLIP_RUNNER_AGENT_AGENT_ENVIRONMENT_H_
#define CALLSLIP_RUNNER_AGENT_AGENT_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::runner {

// Variables by name.
using Environment = std::map<std::string, std::string>;

// Of what execve() and environ have: "NAME=value", with a null at the end.
Environment ParseEnvironment(const char* const* variables);
std::vector<std::string> FormatEnvironment(const Environment& environment);

// What an agent has in its environment, built from nothing, so that it has no secret which nobody
// has meant for it.
struct AgentVariables {
  Environment env;                    // As configured.
  std::vector<std::string> env_from;  // Names of what is handed on where the runner has it.
  std::string session_id;             // CALLSLIP_SESSION_ID; empty: none.
  std::string agent_id;               // CALLSLIP_AGENT_ID; empty: none.
};

// Of the runner's own environment: what programs need to find their files and speak a person's
// language (HOME PATH USER LOGNAME SHELL LANG LC_* TZ TMPDIR), and what `env_from` names. What is
// configured goes before that, and ours before what is configured. PATH is never missing, TERM is
// `dumb` unless it is configured.
Environment AgentEnvironment(const Environment& runner, const AgentVariables& variables);

// Where a command would be found in this environment, as execvp() does; nothing where it is not
// there or is no program. A command with a slash is looked up in `directory`.
std::optional<std::string> FindProgram(absl::string_view command, const Environment& environment,
                                       absl::string_view directory = "/");

// A command behind the one that confines it, such as [bwrap, --ro-bind, /, /]; itself without one.
std::vector<std::string> Wrapped(const std::vector<std::string>& wrapper,
                                 const std::vector<std::string>& command);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_AGENT_ENVIRONMENT_H_
