#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::runner {

// Variables by name.
using Environment = std::map<std::string, std::string>;

// `variables` is a null-terminated array of "NAME=value", as in execve() and environ.
Environment ParseEnvironment(const char* const* variables);
std::vector<std::string> FormatEnvironment(const Environment& environment);

// The session-specific and configured parts of an agent's environment. The environment is built
// from scratch, so that an agent gets no secret that is not meant for it.
struct AgentVariables {
  Environment env;                    // As configured.
  std::vector<std::string> env_from;  // Names of variables copied from the runner if set there.
  std::string session_id;             // CALLSLIP_SESSION_ID; empty: unset.
  std::string agent_id;               // CALLSLIP_AGENT_ID; empty: unset.
};

// Copies from the runner's environment the variables that programs need to find their files and use
// the user's language (HOME PATH USER LOGNAME SHELL LANG LC_* TZ TMPDIR), and those in `env_from`.
// `env` overrides these; CALLSLIP_SESSION_ID and CALLSLIP_AGENT_ID override `env`. PATH is always
// set; TERM is `dumb` unless configured.
Environment AgentEnvironment(const Environment& runner, const AgentVariables& variables);

// Returns the path at which execvp() would find the command in this environment; nullopt if the
// file does not exist or is not executable. A relative command with a slash is resolved in
// `directory`.
std::optional<std::string> FindProgram(absl::string_view command, const Environment& environment,
                                       absl::string_view directory = "/");

// Prepends the wrapper that confines a command, such as [bwrap, --ro-bind, /, /]. Returns `command`
// itself if `wrapper` is empty.
std::vector<std::string> Wrapped(const std::vector<std::string>& wrapper,
                                 const std::vector<std::string>& command);

}  // namespace callslip::runner
