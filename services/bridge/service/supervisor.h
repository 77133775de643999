#pragma once

#include "bridge/service/autostart_plan.h"
#include "common/shutdown_signal.h"

namespace callslip::bridge {

// The bridge's command that runs the supervisor.
inline constexpr char kSuperviseCommand[] = "supervise";

// The descriptor on which the supervisor inherits the lock. Lower than all others that it opens, so
// that the kernel releases this lock first when the process ends for any reason: a bridge that has
// waited for the other lock then finds this one free.
inline constexpr int kSupervisorLockFd = 3;

// Runs tracker and gateway until the last bridge is gone or `shutdown` is signaled; restarts one
// that ends by itself, with a growing delay. Returns the exit code of the process.
int Supervise(const AutostartPlan& plan, const ShutdownSignal& shutdown, Clock& clock);

}  // namespace callslip::bridge
