#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runner/acp/message.h"

// Output of an agent, independent of the protocol version. Json members are null if the agent
// omitted them.
namespace callslip::runner {

// A chunk of a message or thought.
struct MessagePiece {
  enum class Role { kUser, kAgent, kThought };
  Role role = Role::kAgent;
  Json content;            // A content block.
  std::string message_id;  // Id of the whole message; can be empty.
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

// Absent members are unchanged.
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

// The complete list of the agent's commands.
struct AvailableCommands {
  Json commands;
};

struct CurrentMode {
  std::string mode_id;
};

// The complete list of the session's settings.
struct ConfigOptions {
  Json options;
};

struct SessionTitle {
  std::string title;
};

// Context usage and cost.
struct Usage {
  Json usage;
};

// An update of an unknown kind.
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

// An action for which the agent requests permission.
struct PermissionQuestion {
  int64_t number = 0;  // Counts the questions of one session.
  ToolCallChange tool_call;
  Json details;  // The tool call as the agent sent it.
  std::vector<PermissionOption> options;
};

// The selected option; nullopt if the turn is cancelled.
using PermissionChoice = std::optional<std::string>;

// How a prompt ended.
struct PromptEnd {
  std::string stop_reason;  // end_turn, max_tokens, max_turn_requests, refusal, cancelled, …
  Json usage;
};

// Why an agent failed to do what was requested.
struct AgentError {
  // Machine-readable: command_missing, not_executable, directory_unusable, start_timeout,
  // new_session_timeout, load_timeout, cannot_restore, initialize_refused, unsupported_version,
  // auth_required, rate_limited, agent_silent, cancel_ignored, protocol_error, agent_crashed,
  // agent_stopped, agent_error.
  std::string reason;
  std::string message;  // Human-readable.
  // For a prompt: the agent cannot have read it.
  bool prompt_unsent = false;
};

}  // namespace callslip::runner
