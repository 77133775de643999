#include "tracker/domain/command/command_state.h"

#include <array>

namespace callslip::tracker {
namespace {

constexpr uint8_t Bit(CommandState state) { return uint8_t{1} << static_cast<int>(state); }

constexpr uint8_t kUnfinished =
    Bit(CommandState::kQueued) | Bit(CommandState::kDelivered) | Bit(CommandState::kRunning);

struct Transition {
  CommandEvent event;
  uint8_t sources;  // A bit for each state in which the event is valid.
  CommandState destination;
};

constexpr std::array<Transition, kCommandEventCount> kTransitions = {{
    {CommandEvent::kDeliver, Bit(CommandState::kQueued), CommandState::kDelivered},
    {CommandEvent::kAcknowledge, kUnfinished, CommandState::kRunning},
    {CommandEvent::kReturnToQueue, Bit(CommandState::kDelivered), CommandState::kQueued},
    {CommandEvent::kComplete, kUnfinished, CommandState::kCompleted},
    {CommandEvent::kFail, kUnfinished, CommandState::kFailed},
    {CommandEvent::kTimeOut, kUnfinished, CommandState::kTimedOut},
    {CommandEvent::kExpire, kUnfinished, CommandState::kExpired},
    {CommandEvent::kCancel, kUnfinished, CommandState::kCancelled},
    {CommandEvent::kForgetResult, Bit(CommandState::kCompleted), CommandState::kExpired},
}};

}  // namespace

std::optional<CommandState> NextState(CommandState state, CommandEvent event) {
  const Transition& transition = kTransitions[static_cast<size_t>(event)];
  if ((transition.sources & Bit(state)) == 0) return std::nullopt;
  return transition.destination;
}

bool IsTerminal(CommandState state) { return (kUnfinished & Bit(state)) == 0; }

bool IsHeld(CommandState state) {
  return state == CommandState::kDelivered || state == CommandState::kRunning;
}

CommandGroup GroupOf(CommandState state) {
  if (!IsTerminal(state)) return CommandGroup::kUnfinished;
  return state == CommandState::kCompleted ? CommandGroup::kCompleted : CommandGroup::kFailed;
}

absl::string_view CommandStateName(CommandState state) {
  switch (state) {
    case CommandState::kQueued: return "queued";
    case CommandState::kDelivered: return "delivered";
    case CommandState::kRunning: return "running";
    case CommandState::kCompleted: return "completed";
    case CommandState::kFailed: return "failed";
    case CommandState::kTimedOut: return "timed_out";
    case CommandState::kExpired: return "expired";
    case CommandState::kCancelled: return "cancelled";
  }
  return "";
}

}  // namespace callslip::tracker
