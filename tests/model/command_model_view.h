#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// Code and reason of a status, such as "NOT_FOUND unknown_command", or "ok".
std::string OutcomeOf(const absl::Status& status);

// The visible parts of a command, to compare and to print. The caller compares revisions.
struct CommandView {
  CommandState state = CommandState::kQueued;
  int attempt = 0;
  std::string trace;  // "queued/client sent/worker"
  std::string result;
  std::string error_code;
  // In the model, nullopt stands for any value.
  std::optional<bool> may_have_executed;
  std::optional<std::string> error_message;
  std::optional<std::string> error_hint;
  std::string progress;
  std::string context;
  std::string late_result;
  absl::Time deliver_time = absl::InfinitePast();
  absl::Time start_time = absl::InfinitePast();
  absl::Time end_time = absl::InfinitePast();
};

CommandView ViewOf(const CommandSnapshot& snapshot);
// Names the first member that differs from the expected view; empty if there is none.
std::string DifferenceOf(const CommandView& expected, const CommandView& actual);
// Adds a step to the trace of a view.
void AddTrace(CommandView& view, const char* entry);
// Empty where there is none.
std::string BytesOf(const Payload& payload);

}  // namespace callslip::tracker
