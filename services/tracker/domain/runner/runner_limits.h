#ifndef CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_LIMITS_H_
#define CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::tracker {

inline constexpr size_t kMaxRunners = 200;
// Of those that serve one client alone; those that serve all clients count as one client's.
inline constexpr size_t kMaxRunnersOfClient = 100;
inline constexpr size_t kMaxRunnerSessions = 10'000;  // Of all runners.
inline constexpr size_t kMaxRunnerNameBytes = 64;
// Processes that are known to want the name of another.
inline constexpr size_t kMaxTwins = 16;
inline constexpr size_t kMaxAgentsOfRunner = 100;
inline constexpr size_t kMaxWorkspacesOfRunner = 1000;
// Further workspaces that one lets sessions be made in.
inline constexpr size_t kMaxChildrenIn = 16;
// How long a runner that is gone keeps its sessions, and how long it is known.
inline constexpr absl::Duration kRunnerLease = absl::Seconds(10);
inline constexpr absl::Duration kForgetRunnerAfter = absl::Hours(1);

// Controls of a session that wait for their answer, and how long one does.
inline constexpr size_t kMaxControlsOfSession = 16;
inline constexpr absl::Duration kControlWait = absl::Seconds(8);
// Of what a runner has not read yet, besides the sessions that need their agent: one that comes
// back may be told that all of its sessions are another's.
inline constexpr size_t kMaxWaitingAssignments = kMaxRunnerSessions + 1000;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_LIMITS_H_
