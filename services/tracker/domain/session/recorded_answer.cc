#include "tracker/domain/session/recorded_answer.h"

#include <optional>

#include "common/shell_commands.h"

namespace callslip::tracker {

void RecordedAnswer::Note(int64_t seq, const EventFacts& facts) {
  if (facts.iteration.has_value() && GoTo(*facts.iteration)) ended_ = true;
  if (!facts.tool_call.has_value() || !facts.tool_call->begins) return;
  const std::optional<ShellCommandPlace> place = PlaceOfShellCommand(facts.tool_call->id);
  if (!place.has_value() || !GoTo(place->iteration)) return;
  const auto index = static_cast<size_t>(place->index);
  if (index >= kMaxShellCommands) return;
  if (commands_.size() <= index) commands_.resize(index + 1);
  commands_[index] = seq;
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
