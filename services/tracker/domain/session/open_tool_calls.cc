#include "tracker/domain/session/open_tool_calls.h"

#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"

namespace callslip::tracker {
namespace {

// Of the protocol, and of the runner's shell commands. Whatever other words there are for an end.
bool IsOpen(absl::string_view status) {
  constexpr absl::string_view kOpen[] = {"", "pending", "in_progress", "queued", "running"};
  return absl::c_linear_search(kOpen, status);
}

}  // namespace

void OpenToolCalls::See(const SessionEvent& event) {
  if (const auto* call = std::get_if<ToolCall>(&event.payload)) {
    Begin(call->tool_call_id, call->status);
  } else if (const auto* update = std::get_if<ToolCallUpdate>(&event.payload)) {
    Update(update->tool_call_id, update->status.value_or(""));
  }
}

void OpenToolCalls::Begin(const std::string& id, absl::string_view status) {
  // An id that comes again is another call.
  std::erase(ids_, id);
  if (!IsOpen(status)) return;
  if (ids_.size() == kMost) ids_.erase(ids_.begin());
  ids_.push_back(id);
}

void OpenToolCalls::Update(const std::string& id, absl::string_view status) {
  if (!IsOpen(status)) std::erase(ids_, id);
}

}  // namespace callslip::tracker
