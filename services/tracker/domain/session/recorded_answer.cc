#include "tracker/domain/session/recorded_answer.h"

#include <optional>
#include <variant>

#include "common/shell_commands.h"

namespace callslip::tracker {

void RecordedAnswer::See(const SessionEvent& event) {
  if (const auto* message = std::get_if<AgentMessage>(&event.payload)) {
    if (message->iteration.has_value() && GoTo(*message->iteration)) ended_ = true;
    return;
  }
  const auto* call = std::get_if<ToolCall>(&event.payload);
  if (call == nullptr) return;
  const std::optional<ShellCommandPlace> place = PlaceOfShellCommand(call->tool_call_id);
  if (!place.has_value() || !GoTo(place->iteration)) return;
  const auto index = static_cast<size_t>(place->index);
  if (index >= kMaxShellCommands) return;
  if (commands_.size() <= index) commands_.resize(index + 1);
  commands_[index] = event.seq;
}

bool RecordedAnswer::GoTo(int64_t iteration) {
  if (iteration < iteration_) return false;
  if (iteration > iteration_) {
    iteration_ = iteration;
    ended_ = false;
    commands_.clear();
  }
  return true;
}

}  // namespace callslip::tracker
