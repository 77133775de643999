#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/domain/queue/client_account.h"
#include "tracker/domain/queue/command_counters.h"
#include "tracker/domain/queue/command_entry.h"
#include "tracker/domain/queue/deadline_wheel.h"
#include "tracker/domain/queue/partition_client.h"
#include "tracker/domain/queue/pruning.h"
#include "tracker/domain/queue/target_load.h"
#include "tracker/domain/queue/target_queue.h"
#include "tracker/domain/queue/tombstones.h"
#include "tracker/domain/queue/usage.h"
#include "tracker/domain/worker/worker_activity.h"
#include "tracker/domain/worker/worker_presence.h"

namespace callslip::tracker {

class CommandTable;

// The deliveries that a worker knows of, and how far back its knowledge reaches; see the message of
// the same name in command_service.proto.
struct KnownDeliveries {
  std::vector<LeaseToken> leases;
  absl::Duration reach_back;  // Zero: not given.
};

struct LeaseRequest {
  std::string target;
  std::string worker_id;
  int max_commands = 0;  // In one answer.
  int window = 0;        // Unfinished commands that the worker may hold.
  absl::Time hold_until = absl::InfinitePast();
  // The worker may be suspended after the call has ended, and will call again within this time.
  absl::Duration back_within;
  LeaseProofs proofs = LeaseProofs::kRequired;
  KnownDeliveries known;
  std::string client_id = {};  // Client to which the wait counts; empty: only to all together.
  ClientScope clients = ClientScope::All();  // Clients whose commands it takes.
  // Notified when the worker reports about a command; can be null.
  std::shared_ptr<WorkerPresence> presence = nullptr;
};

struct WatchRequest {
  ClientScope clients;
  int64_t after_revision = 0;
  absl::Time until = absl::InfiniteFuture();
  std::shared_ptr<CommandFeed> feed;
  int64_t watch_id = 0;
  bool only_end = false;
};

// Whether a worker that acknowledged a command continues to do so while it executes the command.
enum class Heartbeats { kExpected, kNone };

// A command and the worker that holds it; empty if none does.
struct HeldCommand {
  CommandPtr command;
  std::string worker_id;
};

struct AcknowledgeResult {
  bool cancel_requested = false;
  CommandState state = CommandState::kExpired;
};

struct CompleteResult {
  bool accepted = false;
  CommandState state = CommandState::kExpired;
};

// Effects of a call outside its partition, to be carried out after the mutex is released.
struct CommandEffects {
  struct Answer {
    Answer(WorkerCallback&& call, WorkerNews&& what)
        : callback(std::move(call)), news(std::move(what)) {}

    WorkerCallback callback;
    WorkerNews news;
  };

  std::vector<std::shared_ptr<CommandFeed>> ready;
  absl::InlinedVector<Answer, 1> answers;
  std::vector<CommandId> pushed_out;  // Evicted from failed rings, maybe of other partitions.
  std::vector<Tombstones::Dropped> dropped;               // Tombstones.
  absl::Time earliest_deadline = absl::InfiniteFuture();  // Of the deadlines that were set.
  std::vector<CommandPtr> failed;                         // Ended, but not completed or cancelled.
  std::vector<CommandPtr> ended;  // All that ended, if there is an end listener.
  bool no_leases = false;         // No worker holds a command any more, in any partition.
};

// Data that all partitions of one table share.
struct CommandTableShared {
  CommandTable* table = nullptr;
  CommandLimits limits;
  std::shared_ptr<const CommandDeadlines> deadlines;
  Usage usage;
  std::atomic<int64_t> waits{0};
  ClientAccounts accounts;
  std::atomic<uint64_t> next_sequence{1};
  std::atomic<int64_t> leased{0};  // Commands that are DELIVERED or RUNNING.
  std::atomic<int64_t> late_results{0};
  std::atomic<uint64_t> next_end{1};
  Journal* journal = nullptr;  // Null: the data is lost when the process ends.
  bool hears_ends = false;     // There is an end listener.

  // Counts a wait of a client, until FreeWait(). TooManyWaits if a limit is reached.
  absl::Status ReserveWait(ClientAccount& account);
  void FreeWait(ClientAccount& account);
};

// Until when nothing that was restored ends, and by how much that can delay an end: a tracker that
// is killed again and again would otherwise hold everything forever.
struct RestartGrace {
  int64_t until_nanos = 0;
  int64_t by_at_most_nanos = 0;
};

// The commands of some targets, behind one mutex: their states, queues, deadlines and watches.
//
// A command lives here from its registration until its result was kept long enough (COMPLETED), or
// until its client's failed ring evicts it or 10 minutes have passed (all other ends). After that a
// tombstone answers for its id.
//
// Thread-safe. A call puts its outside effects into `effects`, for the caller to carry out. `now`
// is the time of the call; the partition reads no clock, and fires no deadline by itself.
class CommandPartition {
 public:
  CommandPartition(uint8_t index, CommandTableShared* shared) : index_(index), shared_(shared) {}
  ~CommandPartition();

  // Restores what the journal has kept, as of `now`: commands in the order of registration, then
  // tombstones. Call before everything else.
  void Restore(CommandRecord record, const RestartGrace& grace, absl::Time now);
  void Restore(const CommandRemoval& removal, CommandEffects& effects);

  // `request` has been checked. `deadlines` are the command's.
  absl::StatusOr<CommandPtr> Register(const CommandRequest& request,
                                      std::shared_ptr<const CommandDeadlines> deadlines,
                                      absl::Time now, CommandEffects& effects);
  absl::StatusOr<CommandPtr> Get(const ClientScope& clients, CommandId id);
  // How a removed command of these clients ended, if its tombstone exists.
  std::optional<CommandState> EndOfRemoved(const ClientScope& clients, CommandId id);
  absl::StatusOr<HeldCommand> HeldBy(CommandId id);
  // Matching commands registered before `before_sequence`: of each group at least the newest
  // `limit`, in no particular order.
  std::vector<CommandPtr> List(const ClientScope& clients, const CommandFilter& filter,
                               uint64_t before_sequence, int limit);
  // Ends a command at its client's request, by kCancel or kExpire. Repeating it is harmless.
  absl::StatusOr<CommandPtr> End(const ClientScope& clients, CommandId id, CommandEvent event,
                                 CommandError error, absl::Time now, CommandEffects& effects);

  // Null if the command has ended: its last update is in the feed already.
  absl::StatusOr<std::shared_ptr<CommandWatch>> Watch(CommandId id, const WatchRequest& request,
                                                      CommandEffects& effects);
  // Harmless if the watch is over.
  void Unwatch(CommandWatch& watch);
  // Pushes the commands that the filter of `account` matches now. False if its feed can't take
  // them.
  bool PushMatches(const FilterWatch& watch, ClientAccount& account, CommandEffects& effects);

  // Calls `callback` once, through `effects`, now or later. Returns null if that is now.
  absl::StatusOr<std::shared_ptr<HeldCall>> Lease(const LeaseRequest& request, absl::Time now,
                                                  WorkerCallback callback, CommandEffects& effects);
  // Once this has returned true, the callback will not be called.
  bool Abandon(HeldCall& call, absl::Time now);
  // Undoes a lease that never reached its worker. Harmless if the command has changed since.
  void GiveBack(const CommandLease& lease, absl::Time now, CommandEffects& effects);
  absl::StatusOr<AcknowledgeResult> Acknowledge(CommandId id, const LeaseProof& proof,
                                                std::shared_ptr<const CommandProgress> progress,
                                                Payload context, Heartbeats heartbeats,
                                                absl::Time now, CommandEffects& effects);
  absl::StatusOr<CompleteResult> Complete(CommandId id, const LeaseProof& proof,
                                          CommandOutcome outcome, Payload context, WorkTime work,
                                          absl::Time now, CommandEffects& effects);

  // Adds the present activities of the workers of `target`, or of all targets if it is empty.
  void AddActivities(absl::string_view target, std::vector<WorkerActivity>& activities);

  // Adds the load of each target that has any, counting commands of `clients`.
  void AddLoads(const ClientScope& clients, std::vector<TargetLoad>& loads);

  // Adds the commands that a person must still finish.
  void AddUnfinishedOfPeople(std::vector<CommandPtr>& commands);

  // Visits all targets, and for each client its unfinished commands up to the first that waits.
  CommandStatistics Statistics();

  // Not after the earliest deadline; InfiniteFuture if there is none.
  absl::Time NextDeadlineTime();
  // Fires deadlines that are due at `now`, and returns whether more are due: threads that wait for
  // the mutex get it in between.
  bool FireDeadlines(absl::Time now, CommandEffects& effects);
  // Removes a command that its client's failed ring has evicted. Harmless if it is gone.
  void PushOut(CommandId id, absl::Time now, CommandEffects& effects);
  // Refuses new commands, watches and leases from now on; ends every watch and held call as if its
  // time were over.
  void Drain(CommandEffects& effects);

 private:
  struct Change;
  class Step;

  // Adds a restored command to queues, windows and lists.
  void PlaceRestoredLocked(CommandEntry& entry, const CommandRecord& record, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Nullptr if there is none.
  CommandEntry* EntryLocked(const CommandId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // NOT_FOUND as documented for GetCommand.
  absl::StatusOr<CommandEntry*> FindLocked(const ClientScope& clients, CommandId id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Calls `visit` with each client that has commands here, until it returns false. Returns whether
  // it never did.
  template <typename Visit>
  bool ForEachClientLocked(const ClientScope& clients, Visit visit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the client's commands to `page`: of each group up to `limit`, newest first.
  static void ListLocked(const PartitionClient& client, const CommandFilter& filter,
                         uint64_t before_sequence, int limit, std::vector<CommandPtr>& page);

  // `turn`: the client's in `queue`. Both are null if the command is not queued.
  absl::Status CheckRoomLocked(const CommandRequest& request, const ClientAccount& account,
                               const TargetQueue* queue, const BacklogTurn* turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  PartitionClient* ClientLocked(absl::string_view client_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TargetQueue* QueueLocked(const std::string& target, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes `change` the command's present state, with all consequences: its places in queue and
  // window, its deadline, and notifications of its watchers, its worker and its client's ring.
  void CommitLocked(CommandEntry& entry, Change change, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MoveLocked(CommandEntry& entry, CommandState from, CommandState to, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes an ended command from its worker. `tell`: the worker must be notified, because the end is
  // not its own report.
  void LeaveWorkerLocked(CommandEntry& entry, bool tell, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RearmLocked(CommandEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries out the consequences of everything touched so far: deliveries, then the journal, then
  // watches.
  void SettleLocked(Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Appends the command's state that a restart needs.
  void JournalLocked(CommandEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a watch or filter may have to be notified of its changes.
  bool IsWatched(const CommandEntry& entry) const {
    return !entry.watches.empty() || entry.client->account->has_filters() ||
           shared_->accounts.OfAll()->has_filters();
  }
  // Notifies the watches of the command that it became `view`.
  void TellLocked(CommandEntry& entry, const CommandPtr& view, CommandEffects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Takes the news that the worker can be given.
  WorkerNews TakeNewsLocked(TargetQueue& queue, Worker& worker, const LeaseTerms& terms, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CommandLease DeliverLocked(CommandEntry& entry, Worker& worker, LeaseProofs proofs, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Queues again the commands that were delivered to the worker and never reached it.
  void TakeBackLocked(Worker& worker, const KnownDeliveries& known, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Undoes the latest delivery of a DELIVERED command.
  void ReturnLocked(CommandEntry& entry, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives waiting commands to held calls.
  void DispatchLocked(TargetQueue& queue, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndCallLocked(HeldCall* call, WorkerNews news, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndWatchLocked(CommandWatch& watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void FireLocked(Timed& timed, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FireCommandLocked(CommandEntry& entry, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Postpones the end of an undelivered command until suspended workers are back. False if none is
  // expected.
  bool AwaitWorkersLocked(CommandEntry& entry, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<CommandEntry> NewEntryLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves a tombstone. Destroys `entry`.
  void RemoveLocked(CommandEntry& entry, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether there is room for a result.
  bool FitsLocked(const CommandEntry& entry, const Payload& result) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts commands and payload bytes that were added or removed.
  void Count(ClientAccount& account, int64_t commands, int64_t bytes);

  const uint8_t index_;
  CommandTableShared* const shared_;

  Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<CommandId::Key, std::unique_ptr<CommandEntry>> commands_
      ABSL_GUARDED_BY(mutex_);
  // Entries of removed commands, for reuse: an allocation is 4 % of a command's cost.
  std::vector<std::unique_ptr<CommandEntry>> spare_entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<PartitionClient>> clients_
      ABSL_GUARDED_BY(mutex_);
  Pruning client_pruning_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<TargetQueue>> queues_ ABSL_GUARDED_BY(mutex_);
  Pruning queue_pruning_ ABSL_GUARDED_BY(mutex_);
  Tombstones tombstones_ ABSL_GUARDED_BY(mutex_);
  Timed tombstone_timer_ ABSL_GUARDED_BY(mutex_){Timed::Kind::kTombstones};
  DeadlineWheel deadlines_ ABSL_GUARDED_BY(mutex_);
  // Commands with a lower sequence were restored, and have a grace period.
  uint64_t restored_below_ ABSL_GUARDED_BY(mutex_) = 0;
  RestartGrace grace_ ABSL_GUARDED_BY(mutex_);
  CommandCounters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
