#pragma once

#include <cstddef>
#include <cstdint>

#include "gateway/json/json_fields.h"
#include "gateway/json/parse.h"

// Shortens events for receivers that cannot use megabytes of output: a list on a screen, a model.
namespace callslip::gateway {

// The bounds for the size of a shortened event: room for its IDs and the beginnings of its texts;
// and the largest event that the tracker accepts.
inline constexpr int64_t kMinCutEventBytes = 1024;
inline constexpr int64_t kMaxCutEventBytes = int64_t{4} << 20;

// Shortens an event {"type", "data", …} to `max_bytes` of JSON, at least kMinCutEventBytes: its
// longest strings are truncated at a character, all to the same length, and `omitted_bytes` next to
// "data" is the number of omitted bytes of JSON. If "data" has too many values for that, its
// largest members are omitted. An event that fits is not changed. Returns the resulting size.
size_t CutEvent(size_t max_bytes, Json& event);

// `max_event_bytes` of a query or a message; 0 if it is absent. Errors are in `fields.status()`.
size_t ReadMaxEventBytes(JsonFields& fields);

}  // namespace callslip::gateway
