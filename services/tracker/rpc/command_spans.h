#pragma once

#include <cstdint>
#include <vector>

#include "common/trace_context.h"
#include "telemetry/span.h"
#include "tracker/domain/command/command.h"

// The spans of commands, which outlive any call: recorded all at once when the command has ended,
// from the command's trace in the tracker.
//
//   command TYPE        registered → ended; in the trace of the client that registered it
//     queue TARGET      waiting for a worker, each time
//     process TARGET    one delivery: delivered → ended, or returned to the queue
//       execute TYPE    acknowledged → ended, or returned
//       work TYPE       the worker's own time, if it reports it: in a browser, the time in the page
//
// Their ids are derived from the command's id: a tracker that was killed in between records the
// same ids after its restart, and workers forward the id of a span that is not recorded yet.
namespace callslip::tracker {

// The contexts to send to clients of the command and to the worker of its current delivery: the
// respective span if the command is recorded, else the context that came with it.
TraceContext TraceForClients(const CommandSpec& spec);
TraceContext TraceForWorker(const CommandSnapshot& command);

// Records the spans of an ended command; does nothing if the command is not recorded.
void RecordCommand(const CommandSnapshot& command);

// The same spans, even if they are not recorded, the command's own last. Unfinished ones end at
// `now`, on the clock of command registration.
std::vector<Span> SpansOf(const CommandSnapshot& command, int64_t now);

}  // namespace callslip::tracker
