#ifndef CALLSLIP_TELEMETRY_COMMAND_TRACE_H_
#define CALLSLIP_TELEMETRY_COMMAND_TRACE_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "telemetry/session_trace.h"

namespace callslip {

// The span of a command that is called so, in the command's trace: `command`, or the kind of a part
// of it and its number, as in `process 2`, its second delivery. The tracker records them; whoever
// shows the command finds them by this.
inline TraceContext SpanOfCommand(const TraceContext& trace, absl::string_view command_id,
                                  absl::string_view part) {
  return trace.WithSpan(StableSpanId(absl::StrCat(command_id, " ", part)));
}

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_COMMAND_TRACE_H_
