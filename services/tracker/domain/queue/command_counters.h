#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_COUNTERS_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/latency_histogram.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_state.h"

namespace callslip::tracker {

// The codes with which the tracker itself ends commands. Workers and clients choose their own,
// which are counted together as `other`; a command that was completed has `none`.
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

// What commands have done, of one partition or of all.
struct CommandStatistics {
  // By CommandState.
  std::array<int64_t, kCommandStateCount> in_state{};
  // Since the start, by the state and the place of the code in kEndCodes. A result that nobody
  // collected is counted twice: as completed, and later as expired.
  std::array<std::array<int64_t, kEndCodes.size()>, kCommandStateCount> ended{};
  int64_t registered = 0;
  // Repeated deliveries of commands that a worker leased and did not execute.
  int64_t redelivered = 0;
  // From when a command may be delivered to its first delivery, and to its end.
  LatencyHistogram dispatch;
  LatencyHistogram standard;
  LatencyHistogram human;
  // By how much deadlines were late.
  LatencyHistogram lateness;

  // At this moment. What waits for a worker, in the queues of how many targets; and in the longest.
  int64_t queued = 0;
  int64_t targets = 0;
  int64_t longest_queue = 0;
  // When the oldest of them could have been delivered, in nanoseconds since 1970; zero where none
  // waits.
  int64_t oldest_queued_nanos = 0;

  void Add(const CommandStatistics& other);
  // One that waits could have been delivered at `ready_nanos`; zero: none waits.
  void AddQueued(int64_t ready_nanos);
};

// Counts what becomes of the commands of one partition. Some additions for each change, guarded by
// the partition's mutex, which is held for it anyway.
class CommandCounters {
 public:
  void Registered() {
    ++statistics_.registered;
    ++StateCount(CommandState::kQueued);
  }
  // It was there before the process was.
  void Restored(CommandState state) { ++StateCount(state); }
  // The command was `before` and is `after` now.
  void Changed(const CommandSnapshot& before, const CommandSnapshot& after);
  void Removed(CommandState state) { --StateCount(state); }
  // A deadline of a command was due at `due_nanos` and was dealt with at `now_nanos`.
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

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_COUNTERS_H_
