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
  if (const auto* update = std::get_if<ToolCallUpdate>(&event.payload)) return See(*update);
  const auto* call = std::get_if<ToolCall>(&event.payload);
  if (call == nullptr) return;
  const std::optional<ShellCommandPlace> place = PlaceOfShellCommand(call->tool_call_id);
  if (!place.has_value() || !GoTo(place->iteration)) return;
  const auto index = static_cast<size_t>(place->index);
  if (index >= kMaxShellCommands) return;
  if (commands_.size() <= index) commands_.resize(index + 1);
  finished_.resize(commands_.size());
  commands_[index] = event.seq;
}

void RecordedAnswer::See(const ToolCallUpdate& update) {
  if (update.status != "completed" && update.status != "failed") return;
  const std::optional<ShellCommandPlace> place = PlaceOfShellCommand(update.tool_call_id);
  if (!place.has_value() || place->iteration != iteration_) return;
  const auto index = static_cast<size_t>(place->index);
  if (index < finished_.size()) finished_[index] = true;
}

std::vector<std::string> RecordedAnswer::UnfinishedCommands() const {
  std::vector<std::string> ids;
  for (size_t i = 0; i < commands_.size(); ++i) {
    const bool is_recorded = commands_[i] != 0;
    if (is_recorded && !finished_[i]) {
      ids.push_back(ShellCommandId(iteration_, static_cast<int64_t>(i)));
    }
  }
  return ids;
}

bool RecordedAnswer::GoTo(int64_t iteration) {
  if (iteration < iteration_) return false;
  if (iteration > iteration_) {
    iteration_ = iteration;
    ended_ = false;
    commands_.clear();
    finished_.clear();
  }
  return true;
}

}  // namespace callslip::tracker
