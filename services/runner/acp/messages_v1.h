#ifndef CALLSLIP_RUNNER_ACP_MESSAGES_V1_H_
#define CALLSLIP_RUNNER_ACP_MESSAGES_V1_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

// Version 1 of the Agent Client Protocol: its messages from and to what this program knows. What
// comes is never refused for what it lacks: agents have left out nearly everything.
namespace callslip::runner::acp {

inline constexpr int kProtocolVersion = 1;

struct Offer {
  bool files = false;
  bool terminals = false;
  std::string version;  // Of this program.
};
Json InitializeParams(const Offer& offer);

// A way to log in to the agent.
struct AuthMethod {
  std::string id;
  std::string name;         // For people.
  std::string description;  // For people; may be empty.
  // The agent does it where it is run on a terminal; else by `authenticate`.
  bool is_terminal = false;
  // A program that does it on a terminal instead, as agents told before there was the above:
  // `_meta.terminal-auth`. Empty: none.
  std::string program;
  // Of that program, or else behind those of the agent's own.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;

  bool has_terminal() const { return is_terminal || !program.empty(); }
};

// What the agent can do.
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

// What an agent's session is made with.
struct SessionSetup {
  std::string directory;                            // Absolute.
  std::vector<std::string> additional_directories;  // Told to agents that know of them.
  Json mcp_servers = Json::array();
};
Json NewSessionParams(const SessionSetup& setup, const Capabilities& agent);
// Of session/load and session/resume.
Json RestoreParams(absl::string_view session_id, const SessionSetup& setup,
                   const Capabilities& agent);

// A text as content of a prompt, and an image of base64.
Json TextBlock(absl::string_view text);
Json ImageBlock(absl::string_view mime_type, std::string base64);
// `traceparent` is of W3C Trace Context, for the agent's own spans; it may be empty.
Json PromptParams(absl::string_view session_id, Json blocks, absl::string_view traceparent = "");

// `value` is of an option that is on or off where it is `true` or `false` and the option says so.
Json ConfigOptionParams(absl::string_view session_id, absl::string_view id, absl::string_view value,
                        const Json& options);

// Of a session/update's `update`.
AgentUpdate ParseUpdate(const Json& update);
PermissionQuestion ParsePermission(const Json& params);
Json PermissionAnswer(const PermissionChoice& choice);
PromptEnd ParsePromptEnd(const Json& result);

// Texts and objects that may be missing or of another type: empty and null.
std::string TextOf(const Json& json, const char* name);
const Json& MemberOf(const Json& json, const char* name);

}  // namespace callslip::runner::acp

#endif  // CALLSLIP_RUNNER_ACP_MESSAGES_V1_H_
