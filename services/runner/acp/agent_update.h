#ifndef CALLSLIP_RUNNER_ACP_AGENT_UPDATE_H_
#define CALLSLIP_RUNNER_ACP_AGENT_UPDATE_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runner/acp/message.h"

// What an agent says, whichever version of the protocol it speaks. Json members are null where the
// agent has left them out.
namespace callslip::runner {

// A piece of what somebody says.
struct MessagePiece {
  enum class Role { kUser, kAgent, kThought };
  Role role = Role::kAgent;
  Json content;            // A content block.
  std::string message_id;  // Of the whole; may be empty.
};

struct ToolCall {
  std::string id;
  std::string title;
  std::string name;
  std::string kind;
  std::string status;
  Json content;
  Json locations;
  Json raw_input;
  Json raw_output;
};

// What is absent has not changed.
struct ToolCallChange {
  std::string id;
  std::optional<std::string> title;
  std::optional<std::string> name;
  std::optional<std::string> kind;
  std::optional<std::string> status;
  Json content;
  Json locations;
  Json raw_input;
  Json raw_output;
};

struct Plan {
  struct Entry {
    std::string content;
    std::string priority;
    std::string status;
  };
  std::vector<Entry> entries;
};

// The agent's commands, whole.
struct AvailableCommands {
  Json commands;
};

struct CurrentMode {
  std::string mode_id;
};

// Its settings, whole.
struct ConfigOptions {
  Json options;
};

struct SessionTitle {
  std::string title;
};

// What the context holds and what it has cost.
struct Usage {
  Json usage;
};

// Of a kind that is not known here.
struct OtherUpdate {
  std::string kind;
  Json data;
};

using AgentUpdate = std::variant<MessagePiece, ToolCall, ToolCallChange, Plan, AvailableCommands,
                                 CurrentMode, ConfigOptions, SessionTitle, Usage, OtherUpdate>;

struct PermissionOption {
  std::string id;
  std::string name;
  std::string kind;  // allow_once, allow_always, reject_once, reject_always, or another.
};

// What the agent may only do if somebody allows it.
struct PermissionQuestion {
  int64_t number = 0;  // Counts those of a session.
  ToolCallChange tool_call;
  Json details;  // The tool call as it was said.
  std::vector<PermissionOption> options;
};

// The option that was selected, or nothing: the turn is cancelled.
using PermissionChoice = std::optional<std::string>;

// How a prompt has ended.
struct PromptEnd {
  std::string stop_reason;  // end_turn, max_tokens, max_turn_requests, refusal, cancelled, …
  Json usage;
};

// Why an agent does not do what it was asked to.
struct AgentError {
  // For programs: command_missing, not_executable, directory_unusable, start_timeout,
  // new_session_timeout, load_timeout, cannot_restore, initialize_refused,
  // unsupported_version, auth_required, rate_limited, agent_silent, cancel_ignored, protocol_error,
  // agent_crashed, agent_stopped, agent_error.
  std::string reason;
  std::string message;  // For people.
  // Of a prompt: the agent can't have read it.
  bool prompt_unsent = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_ACP_AGENT_UPDATE_H_
