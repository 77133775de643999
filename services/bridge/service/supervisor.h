#ifndef CALLSLIP_BRIDGE_SERVICE_SUPERVISOR_H_
#define CALLSLIP_BRIDGE_SERVICE_SUPERVISOR_H_

#include "bridge/service/autostart_plan.h"
#include "common/shutdown_signal.h"

namespace callslip::bridge {

// The command of the bridge's program under which the supervisor runs.
inline constexpr char kSuperviseCommand[] = "supervise";

// The descriptor on which the supervisor inherits the lock. Below all others that it opens, so that
// at its end, whatever that is, the kernel drops this lock first: whoever has waited for the other
// one then finds it free.
inline constexpr int kSupervisorLockFd = 3;

// Runs tracker and gateway until the last bridge is gone or `shutdown` comes; one that ends by
// itself is started again, with a growing delay. Returns the exit code of the process.
int Supervise(const AutostartPlan& plan, const ShutdownSignal& shutdown, Clock& clock);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_SERVICE_SUPERVISOR_H_
