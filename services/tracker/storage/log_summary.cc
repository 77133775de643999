#include "tracker/storage/log_summary.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

namespace callslip::tracker {
namespace {

// Whether the data of an event must be read. There can be very many events.
bool IsOfInterest(const EventHead& head) {
  constexpr absl::string_view kTypes[] = {"agent_message", "tool_call",  "tool_call_update",
                                          "user_prompt",   kTurnEndType, "session_start",
                                          "session_end"};
  return absl::c_linear_search(kTypes, head.type);
}

}  // namespace

void LogSummary::See(const EventHead& head, absl::string_view line) {
  if (first_at_ == absl::InfinitePast()) first_at_ = head.timestamp;
  last_at_ = head.timestamp;
  last_seq_ = head.seq;
  ends_with_end_ = head.type == "session_end";
  if (head.type == "user_prompt" || head.type == kTurnEndType) open_calls_.Clear();
  if (!IsOfInterest(head)) return;
  const EventLine event(line);
  EventFacts facts = event.FactsOf(head.type);
  answer_.Note(head.seq, facts);
  open_calls_.Note(facts);
  if (facts.prompt.has_value()) Remember(head.seq, *std::move(facts.prompt), prompts_);
  if (head.type == "session_start") {
    start_ = {event.Text("session_id"), event.Text("acp_server"), event.Text("working_dir"),
              event.Text("owner")};
  } else if (head.type == "session_end") {
    end_reason_ = event.Text("reason");
  } else if (head.type == kTurnEndType) {
    if (std::optional<EndedTurn> ended = event.Turn()) last_turn_ = *std::move(ended);
  }
}

void LogSummary::Complete(const std::string& id, std::optional<SessionMetadata> known,
                          const LogSize& log, LoadedSession& session) && {
  SessionMetadata& metadata = session.metadata;
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
  session.prompts = std::move(prompts_);
  session.last_turn = std::move(last_turn_);
  session.open_calls = std::move(open_calls_);
  session.answer = std::move(answer_);
}

}  // namespace callslip::tracker
