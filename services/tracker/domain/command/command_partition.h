#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_PARTITION_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_PARTITION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_entry.h"
#include "tracker/domain/command/command_watcher.h"
#include "tracker/domain/command/deadline_queue.h"
#include "tracker/domain/command/target_queue.h"

namespace callslip::tracker {

// What ListCommands selects. Empty members select everything, except `client_id`.
struct CommandFilter {
  std::string client_id;
  std::vector<CommandState> states;
  std::string target;
  std::string label;

  bool Matches(const CommandSnapshot& command) const;
};

struct LeaseRequest {
  std::string target;
  std::string worker_id;
  int max_commands = 0;
  absl::Time hold_until;
};

struct CommandRegistration {
  CommandSnapshot command;
  bool existed = false;  // The request_id was known.
};

struct AcknowledgeResult {
  bool cancel_requested = false;
  CommandState state;
};

struct CompleteResult {
  bool accepted = false;
  CommandState state;
};

// What all partitions of one table share; the counts bound the table as a whole.
struct CommandTableShared {
  CommandDeadlines deadlines;
  std::atomic<uint64_t> next_sequence{1};
  std::atomic<int64_t> commands{0};
  std::atomic<int64_t> payload_bytes{0};
  std::atomic<int64_t> waits{0};
  std::atomic<int64_t> late_results{0};
};

// The commands of some targets: their states, queues, deadlines and waiters behind one mutex.
//
// A command stays until its result retention is over (COMPLETED), or until its client's failed ring
// pushes it out or 10 minutes have passed (all other ends); after that a tombstone answers for its
// id. There is a failed ring for each client in each partition.
//
// Thread-safe. Callbacks and watchers are called after the mutex is released, before the call that
// caused them returns. `now` is the time of the call, read by the caller; the partition reads no
// clock, and fires no deadline by itself. It does no authentication: `client_id` is believed.
class CommandPartition {
 public:
  CommandPartition(uint8_t index, CommandTableShared* shared) : index_(index), shared_(shared) {}
  ~CommandPartition();

  // `spec` has been checked and lacks only its id, sequence and time.
  absl::StatusOr<CommandRegistration> Register(CommandSpec spec, absl::Time now);
  absl::StatusOr<CommandSnapshot> Get(const std::string& client_id, const std::string& id,
                                      bool peek);
  // Up to `limit` matching commands registered before `before_sequence`, newest first.
  std::vector<CommandSnapshot> List(const CommandFilter& filter, uint64_t before_sequence,
                                    int limit);
  absl::StatusOr<CommandSnapshot> Cancel(const std::string& client_id, const std::string& id,
                                         absl::Time now);

  absl::Status Watch(const std::string& client_id, const std::string& id, int64_t after_revision,
                     absl::Time until, std::shared_ptr<CommandWatcher> watcher);
  void Unwatch(const std::string& id, const CommandWatcher* watcher);

  // Calls `callback` once, now or later. Returns the number of the held poll, for AbandonPoll(),
  // or 0 where it has been called already.
  absl::StatusOr<uint64_t> Lease(const LeaseRequest& request, absl::Time now,
                                 LeaseCallback callback);
  // Once this has returned true, the poll's callback will not be called.
  bool AbandonPoll(const std::string& target, uint64_t number);

  // Undoes a lease that never reached its worker. Harmless where anything has happened since.
  void GiveBack(const CommandLease& lease, absl::Time now);

  absl::StatusOr<AcknowledgeResult> Acknowledge(const std::string& id,
                                                const std::string& lease_token,
                                                std::optional<CommandProgress> progress,
                                                Payload context, absl::Time now);
  absl::StatusOr<CompleteResult> Complete(const std::string& id, const std::string& lease_token,
                                          CommandOutcome outcome, Payload context, absl::Time now);

  // InfiniteFuture where there is none.
  absl::Time NextDeadlineTime();
  // Does all that is due at `now`.
  void FireDeadlines(absl::Time now);
  // Ends every wait and held poll as if its time were over.
  void EndAllWaits();

 private:
  // What to call once the mutex is released.
  using Effects = absl::InlinedVector<std::function<void()>, 2>;

  // The commands of one client.
  struct Client {
    absl::btree_map<uint64_t, CommandEntry*> by_sequence;
    std::deque<CommandEntry*> failed;  // The failed ring, oldest first.
  };

  absl::StatusOr<CommandEntry*> FindLocked(const std::string& client_id, const std::string& id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The command that a worker reports about, once it has proven its lease.
  absl::StatusOr<CommandEntry*> FindLeasedLocked(const std::string& id,
                                                 const std::string& lease_token)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TargetQueue& QueueLocked(const std::string& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  CommandEntry* AddLocked(CommandSpec spec, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Moves the command to the state that `event` leads to, which must be legal, and its places in
  // queue and worker window with it. The caller has set the outcome.
  void ApplyLocked(CommandEntry& entry, CommandEvent event, TraceEntry::Source source,
                   absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Follows every change: the revision, the next deadline, the waiters, the failed ring.
  void ChangedLocked(CommandEntry& entry, absl::Time now, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FailLocked(CommandEntry& entry, CommandEvent event, TraceEntry::Source source,
                  CommandError error, absl::Time now, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NotifyWaitsLocked(CommandEntry& entry, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::vector<CommandLease> DeliverLocked(TargetQueue& queue, const std::string& worker_id,
                                          int max_commands, absl::Time now, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives queued commands to held polls. Follows everything that adds a command to the queue or
  // frees a worker's place.
  void DispatchLocked(const std::string& target, absl::Time now, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void ForgetIfUnusedLocked(const std::string& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void FireCommandLocked(CommandEntry& entry, absl::Time now, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndWaitLocked(CommandWait* wait, Effects& effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndPollLocked(HeldPoll* poll, std::vector<CommandLease> leases, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void KeepFailedLocked(CommandEntry& entry, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves a tombstone. Destroys `entry`.
  void RemoveLocked(CommandEntry& entry, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Replaces a payload and accounts for its bytes.
  void SetPayloadLocked(Payload& slot, Payload payload) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static void Run(const Effects& effects);

  const uint8_t index_;
  CommandTableShared* const shared_;

  Mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<CommandEntry>> commands_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<CommandTombstone>> tombstones_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<TargetQueue>> queues_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Client> clients_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, CommandEntry*> requests_ ABSL_GUARDED_BY(mutex_);  // RequestKey.
  DeadlineQueue deadlines_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_poll_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_PARTITION_H_
