#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/open_tool_calls.h"
#include "tracker/domain/session/recorded_answer.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/storage/event_json.h"

namespace callslip::tracker {

struct LogSize {
  int64_t events = 0;
  int64_t bytes = 0;
  int64_t max_seq = 0;  // The highest ever used.
};

// What loading a session needs to know of its log.
class LogSummary {
 public:
  // Must be called with all events, in order.
  void See(const EventHead& head, absl::string_view line);

  // Updates the metadata from the log, or creates them if there are none.
  SessionMetadata Complete(const std::string& id, std::optional<SessionMetadata> known,
                           const LogSize& log) const;

  std::deque<RecordedPrompt> TakePrompts() && { return std::move(prompts_); }
  OpenToolCalls TakeOpenCalls() && { return std::move(open_calls_); }
  const EndedTurn& last_turn() const { return last_turn_; }
  RecordedAnswer TakeAnswer() && { return std::move(answer_); }

 private:
  absl::Time first_at_ = absl::InfinitePast();
  absl::Time last_at_ = absl::InfinitePast();
  int64_t last_seq_ = 0;
  bool ends_with_end_ = false;
  std::string end_reason_;
  SessionStart start_;
  std::deque<RecordedPrompt> prompts_;
  RecordedAnswer answer_;
  EndedTurn last_turn_;
  OpenToolCalls open_calls_;
};

}  // namespace callslip::tracker
