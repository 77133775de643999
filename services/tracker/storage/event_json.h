#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/json_scan.h"
#include "tracker/domain/session/session_event.h"

// Lines of events.jsonl: {"seq":1,"type":"agent_message","timestamp":"…Z","data":{…}}
namespace callslip::tracker {

// The beginning of a line.
struct EventHead {
  int64_t seq = 0;
  std::string type;
  absl::Time timestamp;
};

struct EncodedEvent {
  AppendedEvent appended;
  std::string line;  // With its newline.
};
// Encodes events with the seqs from `first_seq` on, all or none. EventTooLarge; InvalidField for
// data that are not a JSON object, and for ids that are too long.
absl::StatusOr<std::vector<EncodedEvent>> EncodeEvents(int64_t first_seq, absl::Time now,
                                                       std::vector<NewEvent> events);

// Nullopt if the line is not an event. Of a line in our own form only the beginning is read, in a
// fraction of a microsecond; other lines are scanned.
std::optional<EventHead> DecodeHead(absl::string_view line);

// The event in a line without its newline. Damaged data become {}.
EventPtr DecodeEvent(const EventHead& head, absl::string_view line);

// A line without its newline, with the parts that loading a log needs.
class EventLine {
 public:
  explicit EventLine(absl::string_view line);

  EventFacts FactsOf(absl::string_view type) const;
  // A member of the data; empty if it is missing or not a string.
  std::string Text(absl::string_view name) const;
  // The turn of a turn_end, without its usage; nullopt if an outcome is missing.
  std::optional<EndedTurn> Turn() const;

 private:
  const JsonScan scan_;
};

// How a turn ended:
//
//   {"turn_id", "outcome": "completed" | "failed" | "cancelled", "reason"?, "stop_reason"?,
//    "usage"?: {…}}
inline constexpr char kTurnEndType[] = "turn_end";

}  // namespace callslip::tracker
