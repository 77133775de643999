#pragma once

#include "bench/child_process.h"
#include "callslip/tracker/v1/command_service.pb.h"

// The floor for a tracker over gRPC: the same messages over bare completion queues, without a
// domain behind them.
namespace callslip::bench {

namespace v1 = callslip::tracker::v1;

// A tracker's answers, copied from a real one.
struct TrackerMessages {
  v1::RegisterCommandResponse registered;
  v1::GetCommandResponse got;
  v1::WaitForCommandResponse waiting;
  v1::WaitForCommandResponse ended;
};
const TrackerMessages& SampleMessages();

// Serves RegisterCommand and GetCommand with samples. A WaitForCommand stream gets the first
// message at once and is then held; held streams are numbered from 0 in the order of arrival.
// CompleteCommand with such a number as its command_id sends the last message on that stream, and a
// poke does so on all. Reports an event 'w' each time 1,000 more streams are held. Runs for ever.
void ServeFloor(const ParentLink& parent);

}  // namespace callslip::bench
