#pragma once

#include <cstdlib>
#include <memory>
#include <optional>

#include "tracker/domain/queue/command_partition.h"

namespace callslip::tracker {

inline void AddTrace(CommandSnapshot& command, TraceEntry::Stage stage, TraceEntry::Source source,
                     absl::Time now) {
  command.trace.push_back({absl::ToUnixNanos(now), stage, source});
}

// A change of a command in progress: a copy of its present state, which CommitLocked() makes the
// new state. Only for the files of CommandPartition.
struct CommandPartition::Change {
  explicit Change(const CommandEntry& entry)
      : next(std::make_shared<CommandSnapshot>(*entry.view)) {
    ++next->revision;
  }

  // Takes a step of the life cycle. The caller has checked input from outside: an invalid step
  // aborts.
  void Step(CommandEvent event, TraceEntry::Source source, absl::Time now) {
    const std::optional<CommandState> to = NextState(next->state, event);
    if (!to.has_value()) std::abort();
    if (event == CommandEvent::kDeliver) ++next->attempt;
    if (*to != next->state) AddTrace(*next, StageOf(event), source, now);
    next->state = *to;
  }

  std::shared_ptr<CommandSnapshot> next;
  bool by_holder = false;  // Reported by the worker that holds the command.

 private:
  static TraceEntry::Stage StageOf(CommandEvent event) {
    switch (event) {
      case CommandEvent::kDeliver: return TraceEntry::Stage::kSent;
      case CommandEvent::kAcknowledge: return TraceEntry::Stage::kStarted;
      case CommandEvent::kReturnToQueue: return TraceEntry::Stage::kReturned;
      default: return TraceEntry::Stage::kResolved;
    }
  }
};

}  // namespace callslip::tracker
