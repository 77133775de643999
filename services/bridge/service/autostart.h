#ifndef CALLSLIP_BRIDGE_SERVICE_AUTOSTART_H_
#define CALLSLIP_BRIDGE_SERVICE_AUTOSTART_H_

#include "absl/status/status.h"
#include "bridge/http/gateway_client.h"
#include "bridge/service/autostart_plan.h"
#include "common/clock.h"

namespace callslip::bridge {

// How `--autostart` runs one tracker and one gateway for any number of bridges, without a registry
// and without a process that has to be ended by hand. Three kinds of processes share two files in a
// folder that only their user can enter; all they know of each other are the locks on them:
//
//   bridge      holds the shared lock on FILE.users as long as it lives, and waits for the
//               exclusive lock on FILE.lock. Whoever gets it starts the supervisor and hands the
//               lock over.
//   supervisor  holds FILE.lock, runs tracker and gateway, and waits for the exclusive lock on
//               FILE.users: it has that once the last bridge is gone, and then ends both.
//   services    are killed by the kernel when their supervisor ends in any other way.
//
// The kernel drops the locks of whatever dies. Bridges for different gateways use different files.
// The supervisor keeps the files from looking forgotten, which would be removed from /tmp; where
// one is gone all the same it ends, and the bridges begin again with new files. It bounds the log.

// Waits for the gateway to answer at its socket, for `patience`; then tells in the log which of its
// addresses somebody else has, where there are such.
void ReportTakenAddresses(GatewayClient& gateway, Clock& clock, absl::Duration patience);

// The bridge's part. Does not return while the files can be used: meant for a thread of its own.
absl::Status KeepServicesRunning(const AutostartPlan& plan, Clock& clock);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_SERVICE_AUTOSTART_H_
