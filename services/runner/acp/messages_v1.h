#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

// Version 1 of the Agent Client Protocol: converts its messages to and from the runner's types.
// Parsing never fails because of missing members: agents have omitted nearly all of them.
namespace callslip::runner::acp {

inline constexpr int kProtocolVersion = 1;

struct Offer {
  bool files = false;
  bool terminals = false;
  std::string version;  // Version of this program.
};
Json InitializeParams(const Offer& offer);

// A way to log in to the agent.
struct AuthMethod {
  std::string id;
  std::string name;         // Human-readable.
  std::string description;  // Human-readable; can be empty.
  // The agent logs in when run on a terminal; otherwise through `authenticate`.
  bool is_terminal = false;
  // A separate program that logs in on a terminal: `_meta.terminal-auth`, which agents sent before
  // `is_terminal` existed. Empty if there is none.
  std::string program;
  // Arguments of `program`, or else additional arguments of the agent itself.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;

  bool has_terminal() const { return is_terminal || !program.empty(); }
};

// Capabilities of the agent.
struct Capabilities {
  int64_t version = 0;
  bool load = false;
  bool resume = false;
  bool close = false;
  bool additional_directories = false;
  bool images = false;
  bool http_mcp = false;
  std::vector<AuthMethod> auth_methods;
  Json agent_info;
};
Capabilities ParseCapabilities(const Json& result);

// Parameters of a new session.
struct SessionSetup {
  std::string directory;                            // Absolute.
  std::vector<std::string> additional_directories;  // Sent only to agents that support them.
  Json mcp_servers = Json::array();
};
Json NewSessionParams(const SessionSetup& setup, const Capabilities& agent);
// For session/load and session/resume.
Json RestoreParams(absl::string_view session_id, const SessionSetup& setup,
                   const Capabilities& agent);

// Prompt content: a text, and a base64-encoded image.
Json TextBlock(absl::string_view text);
Json ImageBlock(absl::string_view mime_type, std::string base64);
// `traceparent` (W3C Trace Context) is the parent of the agent's own spans; it can be empty.
Json PromptParams(absl::string_view session_id, Json blocks, absl::string_view traceparent = "");

// Sends `value` as a boolean if `options` declare the option as boolean.
Json ConfigOptionParams(absl::string_view session_id, absl::string_view id, absl::string_view value,
                        const Json& options);

// Parses the `update` member of session/update.
AgentUpdate ParseUpdate(const Json& update);
PermissionQuestion ParsePermission(const Json& params);
Json PermissionAnswer(const PermissionChoice& choice);
PromptEnd ParsePromptEnd(const Json& result);

}  // namespace callslip::runner::acp
