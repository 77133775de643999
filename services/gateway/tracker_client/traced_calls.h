#pragma once

#include <string>

#include "common/trace_context.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// Registers a command. With spans, the command's span is a child of this call's.
TrackerCalls::Result<v1::RegisterCommandResponse> RegisterCommand(
    TrackerCalls* tracker, v1::RegisterCommandRequest request);

// The trace that a worker's report belongs to; none if `context` is empty.
struct WorkerTrace {
  TraceContext context;
  std::string tracestate;  // Ready to be passed on; see TracestateOf().
};

// Sends a worker's report, in its trace.
TrackerCalls::Result<v1::AcknowledgeCommandResponse> Report(TrackerCalls* tracker,
                                                            v1::AcknowledgeCommandRequest request,
                                                            WorkerTrace trace);
TrackerCalls::Result<v1::CompleteCommandResponse> Report(TrackerCalls* tracker,
                                                         v1::CompleteCommandRequest request,
                                                         WorkerTrace trace);

}  // namespace callslip::gateway
