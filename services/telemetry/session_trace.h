#ifndef CALLSLIP_TELEMETRY_SESSION_TRACE_H_
#define CALLSLIP_TELEMETRY_SESSION_TRACE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/trace_context.h"

namespace callslip {

// A hash for ids of spans that several programs, or one before and after its restart, have to find
// by themselves. Never 0, which is not an id.
uint64_t StableSpanId(absl::string_view text);

// The first span of a session, of which all that is done in it is a part: turns, and what its agent
// calls. The tracker records it when the session is created, and its runner finds it by this; the
// time tells sessions of one id apart. Empty where no spans are recorded.
TraceContext TraceOfSession(absl::string_view session_id, absl::Time created);

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_SESSION_TRACE_H_
