#ifndef CALLSLIP_TRACKER_STORAGE_EVENT_JSON_H_
#define CALLSLIP_TRACKER_STORAGE_EVENT_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_event.h"

// Lines of events.jsonl: {"seq":1,"type":"agent_message","timestamp":"…Z","data":{…}}
namespace callslip::tracker {

// What a line begins with.
struct EventHead {
  int64_t seq = 0;
  std::string type;
  absl::Time timestamp;
};

// The line of an event, with its newline. InvalidField for raw JSON that is none. What is not UTF-8
// is replaced.
absl::StatusOr<std::string> EncodeEvent(int64_t seq, absl::Time timestamp,
                                        const EventPayload& payload);

struct EncodedEvent {
  EventPtr event;    // As it is when it is read again.
  std::string line;  // With its newline.
};
// Events with the seqs from `first_seq` on, all or none of them. EventTooLarge, InvalidField.
absl::StatusOr<std::vector<EncodedEvent>> EncodeEvents(int64_t first_seq, absl::Time now,
                                                       std::vector<EventPayload> payloads);

// Nothing where the line is no event. Reads a line as we write it in a fraction of a microsecond
// and looks at no more than its beginning; others are parsed.
std::optional<EventHead> DecodeHead(absl::string_view line);

// The event of a line, without its newline, that has a head. Data that can't be read, or are not
// exactly what their type can hold, become an OtherEvent, so that no member is lost.
EventPtr DecodeEvent(const EventHead& head, absl::string_view line);

// How a turn has ended, which every one records:
//
//   {"turn_id", "outcome": "completed" | "failed" | "cancelled", "reason"?, "stop_reason"?,
//    "usage"?: {…}}
inline constexpr char kTurnEndType[] = "turn_end";
OtherEvent EncodeTurnEnd(const EndedTurn& turn);
// As far as it matters later: without what was used. Nothing for what is none.
std::optional<EndedTurn> DecodeTurnEnd(const OtherEvent& event);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_EVENT_JSON_H_
