#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/latency_histogram.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_state.h"

namespace callslip::tracker {

// The codes with which the tracker itself ends commands. Codes that workers and clients choose are
// counted together as `other`; a completed command has `none`.
inline constexpr std::array<absl::string_view, 12> kEndCodes = {"none",
                                                                "never_delivered",
                                                                "extension_no_response",
                                                                "worker_lost",
                                                                "execution_timeout",
                                                                "schedule_to_close",
                                                                "user_did_not_finish",
                                                                "result_expired",
                                                                "result_dropped",
                                                                "cancelled",
                                                                "expired_on_request",
                                                                "other"};

// Statistics of commands, of one partition or of all.
struct CommandStatistics {
  // By CommandState.
  std::array<int64_t, kCommandStateCount> in_state{};
  // Since the start, by state and by index of the code in kEndCodes. A result that no client
  // collected is counted twice: as completed, and later as expired.
  std::array<std::array<int64_t, kEndCodes.size()>, kCommandStateCount> ended{};
  int64_t registered = 0;
  // Repeated deliveries of commands.
  int64_t redelivered = 0;
  // From the time when a command can be delivered to its first delivery, and to its end.
  LatencyHistogram dispatch;
  LatencyHistogram standard;
  LatencyHistogram human;
  // Delay of deadlines.
  LatencyHistogram lateness;

  // At present: commands that wait for a worker, targets that have any, and the longest queue.
  int64_t queued = 0;
  int64_t targets = 0;
  int64_t longest_queue = 0;
  // When the oldest of them could have been delivered, in nanoseconds since 1970; zero if none
  // waits.
  int64_t oldest_queued_nanos = 0;

  // All that ended as `state`, with any code.
  int64_t EndedAs(CommandState state) const;
  void Add(const CommandStatistics& other);
  // Adds a waiting command that could have been delivered at `ready_nanos`; zero: none waits.
  void AddQueued(int64_t ready_nanos);
};

// Counts the changes of one partition's commands. Some additions for each change, guarded by the
// partition's mutex, which is held anyway.
class CommandCounters {
 public:
  void Registered() {
    ++statistics_.registered;
    ++StateCount(CommandState::kQueued);
  }
  // A command of an earlier process.
  void Restored(CommandState state) { ++StateCount(state); }
  // The command changed from `before` to `after`.
  void Changed(const CommandSnapshot& before, const CommandSnapshot& after);
  void Removed(CommandState state) { --StateCount(state); }
  // A deadline of a command was due at `due_nanos` and was handled at `now_nanos`.
  void DeadlineFired(int64_t due_nanos, int64_t now_nanos) {
    statistics_.lateness.Observe(now_nanos - due_nanos);
  }

  const CommandStatistics& statistics() const { return statistics_; }

 private:
  int64_t& StateCount(CommandState state) {
    return statistics_.in_state[static_cast<size_t>(state)];
  }
  void Ended(const CommandSnapshot& command);

  CommandStatistics statistics_;
};

}  // namespace callslip::tracker
