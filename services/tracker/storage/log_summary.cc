#include "tracker/storage/log_summary.h"

#include <algorithm>
#include <variant>

#include "absl/strings/match.h"
#include "common/shell_commands.h"
#include "tracker/storage/json.h"

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

// Reads of a line about a tool call which one that is, and its status, and nothing behind these:
// the rest may be megabytes.
class CallReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  const std::string& id() const { return id_; }
  const std::string& status() const { return status_; }

  bool key(string_t& name) override {
    if (depth_ == 2) is_id_ = name == "tool_call_id";
    if (depth_ == 2) is_status_ = name == "status";
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ != 2) return true;
    if (is_id_) id_ = text;
    if (is_status_) status_ = text;
    return id_.empty() || status_.empty();
  }
  bool start_object(size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool Enter() {
    ++depth_;
    return true;
  }
  bool Leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;  // 2 within `data`.
  bool is_id_ = false;
  bool is_status_ = false;
  std::string id_;
  std::string status_;
};

}  // namespace

void LogSummary::See(const EventHead& head, absl::string_view line) {
  if (first_at_ == absl::InfinitePast()) first_at_ = head.timestamp;
  last_at_ = head.timestamp;
  last_seq_ = head.seq;
  ends_with_end_ = head.type == "session_end";
  NoteCalls(head, line);
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

void LogSummary::NoteCalls(const EventHead& head, absl::string_view line) {
  if (head.type == "user_prompt" || head.type == kTurnEndType) open_calls_.Clear();
  const bool begins = head.type == "tool_call";
  if (!begins && head.type != "tool_call_update") return;
  CallReader call;
  nlohmann::json::sax_parse(line.begin(), line.end(), &call);
  if (call.id().empty()) return;
  begins ? open_calls_.Begin(call.id(), call.status())
         : open_calls_.Update(call.id(), call.status());
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
