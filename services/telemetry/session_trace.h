#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/trace_context.h"

namespace callslip {

// A hash for span ids that several programs, or one before and after its restart, must be able to
// compute independently. Never 0, which is not a valid id.
uint64_t StableSpanId(absl::string_view text);

// The root span of a session, which contains everything done in it: turns, and its agent's calls.
// The tracker records it when the session is created, and the runner computes the same context with
// this function; the time distinguishes sessions with the same id. Empty if no spans are recorded.
TraceContext TraceOfSession(absl::string_view session_id, absl::Time created);

}  // namespace callslip
