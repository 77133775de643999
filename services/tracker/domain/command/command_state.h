#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace callslip::tracker {

// The life cycle of a command:
//
//   QUEUED ──deliver──▶ DELIVERED ──acknowledge──▶ RUNNING ─┐ acknowledge (heartbeat)
//      ▲                   │                          ▲─────┘
//      └──return to queue──┘
//   QUEUED, DELIVERED, RUNNING ──▶ COMPLETED | FAILED | TIMED_OUT | EXPIRED | CANCELLED
//   COMPLETED ──forget result──▶ EXPIRED
//
// Only the table in command_state.cc defines it.
enum class CommandState : uint8_t {
  kQueued,     // Waiting for a worker.
  kDelivered,  // Leased, not acknowledged yet.
  kRunning,    // Acknowledged.
  kCompleted,  // The worker reported a result.
  kFailed,     // The worker reported an error or was lost.
  kTimedOut,   // The execution took too long.
  kExpired,    // A deadline other than the worker's passed, or no client collected the result.
  kCancelled,  // Its client ended it.
};

enum class CommandEvent : uint8_t {
  kDeliver,        // A worker leases it.
  kAcknowledge,    // Its worker began, or is still executing. Also from a worker whose lease has
                   // ended: it executes the command anyway, and no second worker should start.
  kReturnToQueue,  // Its lease ended without an acknowledgment, and it can be delivered again.
  kComplete,  // A result. Accepted in each unfinished state: the report that the worker began can
              // have been lost, or overtaken by the result.
  kFail,      // An error, accepted in the same states; or the worker was lost.
  kTimeOut,   // From the worker, or by the tracker's backstop.
  kExpire,    // A deadline of the tracker.
  kCancel,    // The client.
  kForgetResult,  // No client collected the result within its retention.
};

inline constexpr int kCommandStateCount = 8;
inline constexpr int kCommandEventCount = 9;

// The state to which `event` leads from `state`. Nullopt if the life cycle has no such step.
std::optional<CommandState> NextState(CommandState state, CommandEvent event);

// True for the states that end a command.
bool IsTerminal(CommandState state);

// True while a worker holds it: DELIVERED and RUNNING.
bool IsHeld(CommandState state);

// Groups of states, for lists of commands.
enum class CommandGroup : uint8_t {
  kUnfinished,  // QUEUED, DELIVERED, RUNNING.
  kCompleted,   // COMPLETED.
  kFailed,      // Every other end.
};
CommandGroup GroupOf(CommandState state);

// "queued", "timed_out", …
absl::string_view CommandStateName(CommandState state);

}  // namespace callslip::tracker
