#include "tracker/domain/session/open_tool_calls.h"

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"

namespace callslip::tracker {
namespace {

// Statuses of the protocol, and of the runner's shell commands. Every other status is an end.
bool IsOpen(absl::string_view status) {
  constexpr absl::string_view kOpen[] = {"", "pending", "in_progress", "queued", "running"};
  return absl::c_linear_search(kOpen, status);
}

}  // namespace

void OpenToolCalls::Note(const EventFacts& facts) {
  if (!facts.tool_call.has_value()) return;
  const auto& [id, status, begins] = *facts.tool_call;
  // A repeated id is another call.
  if (begins || !IsOpen(status)) std::erase(ids_, id);
  if (!begins || !IsOpen(status)) return;
  if (ids_.size() == kMaxOpen) ids_.erase(ids_.begin());
  ids_.push_back(id);
}

}  // namespace callslip::tracker
