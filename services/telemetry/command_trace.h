#pragma once

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/session_target.h"
#include "common/trace_context.h"
#include "telemetry/session_trace.h"

namespace callslip {

// The span of a command or of a part of it, in the command's trace: `part` is `command`, or a kind
// of part and its number, as in `process 2`, the second delivery. The tracker records these spans;
// code that displays the command finds them by this id.
inline TraceContext SpanOfCommand(const TraceContext& trace, absl::string_view command_id,
                                  absl::string_view part) {
  return trace.WithSpan(StableSpanId(absl::StrCat(command_id, " ", part)));
}

// The destination of a command, for names of spans: few, although each session has a target.
inline absl::string_view DestinationOf(absl::string_view target) {
  return absl::StartsWith(target, kSessionTargets) ? "session-{id}" : target;
}

}  // namespace callslip
