#include "tracker/domain/session/session_event.h"

#include <array>

namespace callslip::tracker {
namespace {

// In the order of the alternatives of EventPayload.
constexpr std::array<absl::string_view, 12> kTypeNames = {
    "session_start",    "session_end", "user_prompt", "agent_message", "agent_thought", "tool_call",
    "tool_call_update", "plan",        "permission",  "file_read",     "file_write",    "error"};
static_assert(std::variant_size_v<EventPayload> == kTypeNames.size() + 1);

}  // namespace

absl::string_view EventTypeOf(const EventPayload& payload) {
  if (const auto* other = std::get_if<OtherEvent>(&payload)) return other->type;
  return kTypeNames[payload.index()];
}

}  // namespace callslip::tracker
