#pragma once

#include <cstddef>
#include <string>

#include "callslip/tracker/v1/session_service.pb.h"

// Events as JSON text. The data of an event is copied as the tracker sends it, without parsing.
namespace callslip::gateway {

// {"seq", "timestamp", "type", "data"}: a line of events.jsonl. If longer than `max_bytes`,
// CutEvent() shortens it; 0: no limit.
std::string EventText(const callslip::tracker::v1::SessionEvent& event, size_t max_bytes = 0);

// {"events", "has_more", …}: a page of events, each of at most `max_event_bytes`; 0: no limit. With
// `request_id` unless that is empty.
std::string PageText(const callslip::tracker::v1::ReadEventsResponse& page, size_t max_event_bytes,
                     const std::string& request_id = "");

}  // namespace callslip::gateway
