#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_STATE_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_STATE_H_

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
// The table in command_state.cc is the only place that knows it.
enum class CommandState : uint8_t {
  kQueued,     // Waiting for a worker.
  kDelivered,  // Leased, not acknowledged yet.
  kRunning,    // Acknowledged.
  kCompleted,  // The worker reported a result.
  kFailed,     // The worker reported an error or was lost.
  kTimedOut,   // The execution took too long.
  kExpired,    // A deadline passed that was not the worker's, or nobody collected the result.
  kCancelled,  // Its client ended it.
};

enum class CommandEvent : uint8_t {
  kDeliver,        // A worker leases it.
  kAcknowledge,    // Its worker began, or is still at work. Also from a worker whose lease ended
                   // meanwhile: it is at work all the same, and no second one should start.
  kReturnToQueue,  // Its lease ended without an acknowledgement, and it may run twice.
  kComplete,       // A result. Accepted before every end: the report that a worker has begun may
                   // have been lost, or overtaken by the result.
  kFail,           // An error, accepted as a result is; or the worker was lost.
  kTimeOut,        // From the worker, or by the tracker's backstop.
  kExpire,         // A deadline of the tracker.
  kCancel,         // The client.
  kForgetResult,   // Nobody collected the result within its retention.
};

inline constexpr int kCommandStateCount = 8;
inline constexpr int kCommandEventCount = 9;

// Where `event` leads from `state`, or nullopt where the life cycle has no such step.
std::optional<CommandState> NextState(CommandState state, CommandEvent event);

// True for the states that end a command.
bool IsTerminal(CommandState state);

// True while a worker has it: DELIVERED and RUNNING.
bool IsHeld(CommandState state);

// How a command stands, as whoever looks at a list of them wants to know.
enum class CommandGroup : uint8_t {
  kUnfinished,  // QUEUED, DELIVERED, RUNNING.
  kCompleted,   // COMPLETED.
  kFailed,      // Every other end.
};
CommandGroup GroupOf(CommandState state);

// "queued", "timed_out", …
absl::string_view CommandStateName(CommandState state);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_STATE_H_
