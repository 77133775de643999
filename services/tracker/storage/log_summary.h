#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

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

  // Sets what the log tells of the session. The metadata are those known, updated from the log, or
  // new ones if there are none.
  void Complete(const std::string& id, std::optional<SessionMetadata> known, const LogSize& log,
                LoadedSession& session) &&;

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
