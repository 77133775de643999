#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_TABLE_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command_partition.h"

namespace callslip::tracker {

struct CommandPage {
  std::vector<CommandSnapshot> commands;
  std::string next_page_token;  // Empty on the last page.
};

// All commands of a tracker: checks what comes in and routes it to the partition of its target, or
// of the partition that its id names. Errors are those that command_service.proto documents.
//
// Thread-safe. Knows no transport, and no clock: `now` is the time of each call, and someone must
// call FireDeadlines() when NextDeadlineTime() has come (see DeadlineThread).
class CommandTable {
 public:
  // Called after any call that may have brought a deadline forward, with the earliest one of the
  // partition it happened in. Must be cheap and must not call back.
  using DeadlineListener = std::function<void(absl::Time)>;

  // A poll or wait that goes on; give it back to the method that ends it.
  struct PollHandle {
    std::string target;
    uint64_t number = 0;  // 0: the poll is over.
  };

  // `deadlines` must be valid (CommandDeadlines::Validate()).
  explicit CommandTable(const CommandDeadlines& deadlines);

  // To be called before the table is used by more than one thread.
  void SetDeadlineListener(DeadlineListener listener) { listener_ = std::move(listener); }

  absl::StatusOr<CommandRegistration> Register(CommandSpec spec, absl::Time now);
  absl::StatusOr<CommandSnapshot> Get(std::string client_id, const std::string& id, bool peek);
  // `page_size` 0 means the default.
  absl::StatusOr<CommandPage> List(CommandFilter filter, int page_size,
                                   const std::string& page_token);
  absl::StatusOr<CommandSnapshot> Cancel(std::string client_id, const std::string& id,
                                         absl::Time now);

  // Tells `watcher` the present state if its revision is above `after_revision`, then each change,
  // until a terminal state, `max_wait`, or Unwatch(). A terminal state is told in any case.
  absl::Status Watch(std::string client_id, const std::string& id, int64_t after_revision,
                     absl::Duration max_wait, std::shared_ptr<CommandWatcher> watcher,
                     absl::Time now);
  // Harmless where the watch is over. A call to the watcher may still be under way.
  void Unwatch(const std::string& id, const CommandWatcher* watcher);

  // Calls `callback` once, with the leases or, after `max_wait`, with none; maybe before it
  // returns. `max_commands` 0 means as many as a worker may hold.
  absl::StatusOr<PollHandle> Lease(LeaseRequest request, absl::Duration max_wait, absl::Time now,
                                   LeaseCallback callback);
  // Once this has returned true, the callback will not be called.
  bool AbandonPoll(const PollHandle& poll);

  // Undoes a lease that never reached its worker: the command is queued as if it had not been
  // leased. Harmless where anything has happened to it since.
  void GiveBack(const CommandLease& lease, absl::Time now);

  absl::StatusOr<AcknowledgeResult> Acknowledge(const std::string& id,
                                                const std::string& lease_token,
                                                std::optional<CommandProgress> progress,
                                                Payload context, absl::Time now);
  absl::StatusOr<CompleteResult> Complete(const std::string& id, const std::string& lease_token,
                                          CommandOutcome outcome, Payload context, absl::Time now);

  absl::Time NextDeadlineTime();
  void FireDeadlines(absl::Time now);
  void EndAllWaits();

  // Results that came for commands which had ended already, since the start.
  int64_t late_results() const { return shared_.late_results; }
  // Watches and held polls at this moment.
  int64_t waits() const { return shared_.waits; }

 private:
  // Enough that two poller threads rarely meet; few enough that a sweep over all of them is cheap.
  static constexpr int kPartitions = 16;

  CommandPartition& PartitionOfTarget(absl::string_view target);
  // NOT_FOUND for text that is no id of ours.
  absl::StatusOr<CommandPartition*> PartitionOf(const std::string& id);
  void Rearm(CommandPartition& partition);

  CommandTableShared shared_;
  std::vector<std::unique_ptr<CommandPartition>> partitions_;
  DeadlineListener listener_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_TABLE_H_
