#include "tracker/storage/log_summary.h"

#include <algorithm>
#include <variant>

#include "absl/strings/match.h"
#include "common/shell_commands.h"

namespace callslip::tracker {
namespace {

// Where in a line our own events have what is looked for.
constexpr size_t kIdWithin = 200;
constexpr size_t kIterationWithin = 40;

// Whether an event has to be decoded: there may be a great many.
bool IsOfInterest(const EventHead& head, absl::string_view line) {
  if (head.type == "tool_call" || head.type == "tool_call_update") {
    return absl::StrContains(line.substr(0, kIdWithin), kShellCommandIdPrefix);
  }
  if (head.type == "agent_message") {
    const size_t size = std::min(line.size(), kIterationWithin);
    return absl::StrContains(line.substr(line.size() - size), "\"iteration\":");
  }
  return head.type == kTurnEndType || head.type == "user_prompt" || head.type == "session_start" ||
         head.type == "session_end";
}

}  // namespace

void LogSummary::See(const EventHead& head, absl::string_view line) {
  if (first_at_ == absl::InfinitePast()) first_at_ = head.timestamp;
  last_at_ = head.timestamp;
  last_seq_ = head.seq;
  ends_with_end_ = head.type == "session_end";
  if (!IsOfInterest(head, line)) return;
  const EventPtr event = DecodeEvent(head, line);
  answer_.See(*event);
  if (const auto* prompt = std::get_if<UserPrompt>(&event->payload)) {
    Remember(RecordedPrompt(*prompt), prompts_);
  } else if (const auto* start = std::get_if<SessionStart>(&event->payload)) {
    start_ = *start;
  } else if (const auto* end = std::get_if<SessionEnd>(&event->payload)) {
    end_reason_ = end->reason;
  } else if (const auto* other = std::get_if<OtherEvent>(&event->payload)) {
    if (std::optional<EndedTurn> ended = DecodeTurnEnd(*other)) last_turn_ = *std::move(ended);
  }
}

SessionMetadata LogSummary::Complete(const std::string& id, std::optional<SessionMetadata> known,
                                     const LogSize& log) const {
  SessionMetadata metadata;
  if (known.has_value()) {
    metadata = *std::move(known);
  } else {
    metadata.owner = start_.owner;
    metadata.acp_server = start_.acp_server;
    metadata.working_dir = start_.working_dir;
    metadata.created_at = metadata.updated_at =
        first_at_ == absl::InfinitePast() ? absl::UnixEpoch() : first_at_;
  }
  metadata.session_id = id;
  if (ends_with_end_ && metadata.max_seq < last_seq_) {
    metadata.state = SessionState::kCompleted;
    metadata.end_reason = end_reason_;
  }
  metadata.updated_at = std::max(metadata.updated_at, last_at_);
  metadata.event_count = log.events;
  metadata.log_bytes = log.bytes;
  metadata.max_seq = log.max_seq;
  return metadata;
}

}  // namespace callslip::tracker
