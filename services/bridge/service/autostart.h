#pragma once

#include "absl/status/status.h"
#include "bridge/http/gateway_client.h"
#include "bridge/service/autostart_plan.h"
#include "common/clock.h"

namespace callslip::bridge {

// How `--autostart` runs one tracker and one gateway for any number of bridges, without a registry
// and without a process that must be stopped by hand. Three kinds of processes share two files in a
// folder that only their user can enter; they coordinate only through the locks on these files:
//
//   bridge      holds the shared lock on FILE.users as long as it lives, and waits for the
//               exclusive lock on FILE.lock. The bridge that gets it starts the supervisor and
//               passes the lock on to it.
//   supervisor  holds FILE.lock, runs tracker and gateway, and waits for the exclusive lock on
//               FILE.users: it gets that once the last bridge is gone, and then stops both.
//   services    are killed by the kernel if their supervisor ends in any other way.
//
// The kernel releases the locks of a process that dies. Bridges for different gateways use
// different files. The supervisor keeps the files recent, since old files are removed from /tmp; if
// one is removed nevertheless, the supervisor ends, and the bridges start again with new files. It
// bounds the log.

// Waits for the gateway to answer at its socket, for `patience`; then logs each of its addresses at
// which another program listens.
void ReportTakenAddresses(GatewayClient& gateway, Clock& clock, absl::Duration patience);

// The bridge's part. Does not return while the files can be used: meant for a thread of its own.
absl::Status KeepServicesRunning(const AutostartPlan& plan, Clock& clock);

}  // namespace callslip::bridge
