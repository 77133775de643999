#ifndef CALLSLIP_TRACKER_RPC_COMMAND_SPANS_H_
#define CALLSLIP_TRACKER_RPC_COMMAND_SPANS_H_

#include <cstdint>
#include <vector>

#include "common/trace_context.h"
#include "telemetry/span.h"
#include "tracker/domain/command/command.h"

// The spans of commands, which live longer than any call: recorded in one piece when the command
// has ended, of what the tracker knows of its way.
//
//   command TYPE        registered → ended; in the trace of whoever has registered it
//     queue TARGET      waiting for a worker, each time
//     process TARGET    one delivery: delivered → ended, or returned to the queue
//       execute TYPE    acknowledged → ended, or returned
//       work TYPE       as long as its worker was at it, where that says so: in a browser, the time
//       in
//                       the page
//
// Their ids follow from the command's own: a tracker that was killed in between records the same
// ones after its restart, and workers hand on the id of a span that is not recorded yet.
namespace callslip::tracker {

// What goes before clients of the command and before the worker of its present delivery: the span
// of either where the command is recorded, else what came with it.
TraceContext TraceForClients(const CommandSpec& spec);
TraceContext TraceForWorker(const CommandSnapshot& command);

// Nothing where the command is not recorded. It has ended.
void RecordCommand(const CommandSnapshot& command);

// The same spans, whether they are recorded or not, the command's own last. What is not over yet
// lasts until `now`, of the clock by which commands are registered.
std::vector<Span> SpansOf(const CommandSnapshot& command, int64_t now);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_COMMAND_SPANS_H_
