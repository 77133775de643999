#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::tracker {

inline constexpr size_t kMaxRunners = 200;
// Runners that serve one client only; those that serve all clients count as one client's.
inline constexpr size_t kMaxRunnersOfClient = 100;
inline constexpr size_t kMaxRunnerSessions = 10'000;  // Of all runners.
inline constexpr size_t kMaxRunnerNameBytes = 64;
// Remembered processes that wanted the name of another.
inline constexpr size_t kMaxTwins = 16;
inline constexpr size_t kMaxAgentsOfRunner = 100;
inline constexpr size_t kMaxWorkspacesOfRunner = 1000;
// Further workspaces that one workspace allows for sessions of its agents.
inline constexpr size_t kMaxChildrenIn = 16;
// How long a disconnected runner keeps its sessions, and how long it is remembered.
inline constexpr absl::Duration kRunnerLease = absl::Seconds(10);
inline constexpr absl::Duration kForgetRunnerAfter = absl::Hours(1);

// Controls of a session that wait for their answer, and how long each waits.
inline constexpr size_t kMaxControlsOfSession = 16;
inline constexpr absl::Duration kControlWait = absl::Seconds(8);
// Tasks that a runner has not read yet, without the sessions that need their agent: a returning
// runner may have to learn that all of its sessions belong to another.
inline constexpr size_t kMaxWaitingAssignments = kMaxRunnerSessions + 1000;

}  // namespace callslip::tracker
