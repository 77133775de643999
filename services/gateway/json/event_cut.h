#ifndef CALLSLIP_GATEWAY_JSON_EVENT_CUT_H_
#define CALLSLIP_GATEWAY_JSON_EVENT_CUT_H_

#include <cstddef>
#include <cstdint>

#include "gateway/json/json_fields.h"
#include "gateway/json/parse.h"

// Events for who can't use megabytes of output: a list on a screen, a model.
namespace callslip::gateway {

// What an event may be cut to: room for its ids and the beginnings of its texts; and an event that
// is as long as the tracker takes one.
inline constexpr int64_t kMinCutEventBytes = 1024;
inline constexpr int64_t kMaxCutEventBytes = int64_t{4} << 20;

// Shortens an event {"type", "data", …} to `max_bytes` of JSON, at least kMinCutEventBytes: its
// longest strings are cut at a character, all to the same length, and `omitted_bytes` beside "data"
// says how many bytes of JSON went. Where "data" has too many values for that, its largest members
// are omitted. One that fits stays as it is. Returns how long it is then.
size_t CutEvent(size_t max_bytes, Json& event);

// `max_event_bytes` of a query or a message; 0 where it is absent. What is wrong with it is in
// `fields.status()`.
size_t ReadMaxEventBytes(JsonFields& fields);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_EVENT_CUT_H_
