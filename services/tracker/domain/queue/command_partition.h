#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_H_

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

// What a worker knows of what was delivered to it, and how far back it does; see the message of the
// same name in command_service.proto.
struct KnownDeliveries {
  std::vector<LeaseToken> leases;
  absl::Duration reach_back;  // Zero: it says nothing.
};

struct LeaseRequest {
  std::string target;
  std::string worker_id;
  int max_commands = 0;  // In one answer.
  int window = 0;        // Unfinished commands that the worker may hold.
  absl::Time hold_until = absl::InfinitePast();
  // The worker may be suspended once the call has ended, and will ask again within this time.
  absl::Duration back_within;
  LeaseProofs proofs = LeaseProofs::kRequired;
  KnownDeliveries known;
  std::string client_id = {};  // Whose wait it is; empty: nobody's, and one of all alone.
  ClientScope clients = ClientScope::All();  // Whose commands are taken.
  // Is told when the worker reports about a command; may be null.
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

// Whether a worker that has acknowledged a command will go on doing so while it executes.
enum class Heartbeats { kExpected, kNone };

// A command and the worker that holds it; empty where none does.
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

// What a call has caused elsewhere, to be done once the partition's mutex is released.
struct CommandEffects {
  struct Answer {
    Answer(WorkerCallback&& call, WorkerNews&& what)
        : callback(std::move(call)), news(std::move(what)) {}

    WorkerCallback callback;
    WorkerNews news;
  };

  std::vector<std::shared_ptr<CommandFeed>> ready;
  absl::InlinedVector<Answer, 1> answers;
  std::vector<CommandId> pushed_out;         // Of failed rings, maybe of other partitions.
  std::vector<Tombstones::Dropped> dropped;  // Tombstones.
  absl::Time earliest_deadline = absl::InfiniteFuture();  // Of those that were set.
  std::vector<CommandPtr> failed;  // Ended without having been completed or cancelled.
  std::vector<CommandPtr> ended;   // All that have, where somebody is to hear of it.
  bool no_leases = false;          // No worker holds a command any more, in any partition.
};

// What all partitions of one table share.
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
  Journal* journal = nullptr;  // Null: what is here ends with the process.
  bool hears_ends = false;     // Somebody is to hear of each command that ends.

  // A wait of a client, until FreeWait(). TooManyWaits.
  absl::Status ReserveWait(ClientAccount& account);
  void FreeWait(ClientAccount& account);
};

// Until when nothing that was restored ends, and by how much that may put off an end: a tracker
// that is killed again and again would otherwise hold all of them for ever.
struct RestartGrace {
  int64_t until_nanos = 0;
  int64_t by_at_most_nanos = 0;
};

// The commands of some targets, behind one mutex: their states, queues, deadlines and watches.
//
// A command lives here from its registration until its result was kept long enough (COMPLETED), or
// its client's failed ring pushes it out or 10 minutes have passed (all other ends); after that a
// tombstone answers for its id.
//
// Thread-safe. What a call causes outside is put into `effects`, for the caller to carry out.
// `now` is the time of the call; the partition reads no clock, and fires no deadline by itself.
class CommandPartition {
 public:
  CommandPartition(uint8_t index, CommandTableShared* shared) : index_(index), shared_(shared) {}
  ~CommandPartition();

  // Brings back what the journal has kept, as of `now`: the commands in the order of registration,
  // then the tombstones. Before everything else.
  void Restore(CommandRecord record, const RestartGrace& grace, absl::Time now);
  void Restore(const CommandRemoval& removal, CommandEffects& effects);

  // `request` has been checked. `deadlines` are the command's.
  absl::StatusOr<CommandPtr> Register(const CommandRequest& request,
                                      std::shared_ptr<const CommandDeadlines> deadlines,
                                      absl::Time now, CommandEffects& effects);
  absl::StatusOr<CommandPtr> Get(const ClientScope& clients, CommandId id);
  // How a command of theirs ended that a tombstone is left of.
  std::optional<CommandState> EndOfRemoved(const ClientScope& clients, CommandId id);
  absl::StatusOr<HeldCommand> HeldBy(CommandId id);
  // Up to `limit` matching commands registered before `before_sequence`, newest first.
  // Of each group as many as match, up to `limit`.
  std::vector<CommandPtr> List(const ClientScope& clients, const CommandFilter& filter,
                               uint64_t before_sequence, int limit);
  // Ends a command at its client's wish, by kCancel or kExpire; repeating it is harmless.
  absl::StatusOr<CommandPtr> End(const ClientScope& clients, CommandId id, CommandEvent event,
                                 CommandError error, absl::Time now, CommandEffects& effects);

  // Null where the command has ended: its last update is in the feed already.
  absl::StatusOr<std::shared_ptr<CommandWatch>> Watch(CommandId id, const WatchRequest& request,
                                                      CommandEffects& effects);
  // Harmless where the watch is over.
  void Unwatch(CommandWatch& watch);
  // Tells the filter of `account` what it matches now; false where its feed can't take that much.
  bool PushMatches(const FilterWatch& watch, ClientAccount& account, CommandEffects& effects);

  // Calls `callback` once, through `effects`, now or later; null where that is now.
  absl::StatusOr<std::shared_ptr<HeldCall>> Lease(const LeaseRequest& request, absl::Time now,
                                                  WorkerCallback callback, CommandEffects& effects);
  // Once this has returned true, the callback will not be called.
  bool Abandon(HeldCall& call, absl::Time now);
  // Undoes a lease that never reached its worker. Harmless where anything has happened since.
  void GiveBack(const CommandLease& lease, absl::Time now, CommandEffects& effects);
  absl::StatusOr<AcknowledgeResult> Acknowledge(CommandId id, const LeaseProof& proof,
                                                std::shared_ptr<const CommandProgress> progress,
                                                Payload context, Heartbeats heartbeats,
                                                absl::Time now, CommandEffects& effects);
  absl::StatusOr<CompleteResult> Complete(CommandId id, const LeaseProof& proof,
                                          CommandOutcome outcome, Payload context, WorkTime work,
                                          absl::Time now, CommandEffects& effects);

  // What the workers of `target`, or of all targets where it is empty, do now.
  void AddActivities(absl::string_view target, std::vector<WorkerActivity>& activities);

  // What there is to do of `clients`, of each target that has anything.
  void AddLoads(const ClientScope& clients, std::vector<TargetLoad>& loads);

  // The commands that a person still has to finish.
  void AddUnfinishedOfPeople(std::vector<CommandPtr>& commands);

  // One look at all targets and at what is unfinished until the first that waits, of each client.
  CommandStatistics Statistics();

  // Not after the earliest deadline; InfiniteFuture where there is none.
  absl::Time NextDeadlineTime();
  // Does what is due at `now`, and returns whether there is more: who waits for the mutex comes in
  // between.
  bool FireDeadlines(absl::Time now, CommandEffects& effects);
  // Removes a command that its client's failed ring has pushed out. Harmless where it is gone.
  void PushOut(CommandId id, absl::Time now, CommandEffects& effects);
  // From now on new commands, watches and leases are refused; ends every watch and held call as if
  // its time were over.
  void Drain(CommandEffects& effects);

 private:
  struct Change;
  class Step;

  // Gives a restored command its places in queues, windows and lists.
  void PlaceRestoredLocked(CommandEntry& entry, const CommandRecord& record, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Nullptr where there is none.
  CommandEntry* EntryLocked(const CommandId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // NOT_FOUND as GetCommand has it.
  absl::StatusOr<CommandEntry*> FindLocked(const ClientScope& clients, CommandId id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Calls `visit` with each client that has something here, until it returns false; returns that.
  template <typename Visit>
  bool ForEachClientLocked(const ClientScope& clients, Visit visit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds up to `limit` of the client's commands to `page`, newest first.
  static void ListLocked(const PartitionClient& client, const CommandFilter& filter,
                         uint64_t before_sequence, int limit, std::vector<CommandPtr>& page);

  // `turn`: the client's in `queue`. Both null where the command is not queued.
  absl::Status CheckRoomLocked(const CommandRequest& request, const ClientAccount& account,
                               const TargetQueue* queue, const BacklogTurn* turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  PartitionClient* ClientLocked(absl::string_view client_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TargetQueue* QueueLocked(const std::string& target, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts one more wait, of the client's where it is one of a client; RESOURCE_EXHAUSTED.

  // Makes `change` the command's present state, with all that follows from it: its places in queue
  // and window, its deadline, what its watchers, its worker and its client's ring are told.
  void CommitLocked(CommandEntry& entry, Change change, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MoveLocked(CommandEntry& entry, CommandState from, CommandState to, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The command has ended: its worker is told, unless it was the one who said so.
  void LeaveWorkerLocked(CommandEntry& entry, bool tell, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RearmLocked(CommandEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does what follows from all that was touched so far: deliveries, then the journal, then watches.
  void SettleLocked(Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Appends what a restart must know of the command.
  void JournalLocked(CommandEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether anybody is to be told what becomes of it.
  bool IsWatched(const CommandEntry& entry) const {
    return !entry.watches.empty() || entry.client->account->has_filters() ||
           shared_->accounts.OfAll()->has_filters();
  }
  // Tells the watches of the command that it became `view`.
  void TellLocked(CommandEntry& entry, const CommandPtr& view, CommandEffects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Gives the worker what there is for it.
  WorkerNews TakeNewsLocked(TargetQueue& queue, Worker& worker, const LeaseTerms& terms, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CommandLease DeliverLocked(CommandEntry& entry, Worker& worker, LeaseProofs proofs, Step& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Queues again what was delivered to the worker and never reached it.
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
  // Puts the end of an undelivered command off until suspended workers are back; false where none
  // is expected.
  bool AwaitWorkersLocked(CommandEntry& entry, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<CommandEntry> NewEntryLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves a tombstone. Destroys `entry`.
  void RemoveLocked(CommandEntry& entry, Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether there is room for a result.
  bool FitsLocked(const CommandEntry& entry, const Payload& result) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Accounts for commands and payload bytes that came or went.
  void Count(ClientAccount& account, int64_t commands, int64_t bytes);

  const uint8_t index_;
  CommandTableShared* const shared_;

  Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<CommandId::Key, std::unique_ptr<CommandEntry>> commands_
      ABSL_GUARDED_BY(mutex_);
  // Of commands that were removed, for the next ones: an allocation is 4 % of what a command costs.
  std::vector<std::unique_ptr<CommandEntry>> spare_entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<PartitionClient>> clients_
      ABSL_GUARDED_BY(mutex_);
  Pruning client_pruning_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<TargetQueue>> queues_ ABSL_GUARDED_BY(mutex_);
  Pruning queue_pruning_ ABSL_GUARDED_BY(mutex_);
  Tombstones tombstones_ ABSL_GUARDED_BY(mutex_);
  Timed tombstone_timer_ ABSL_GUARDED_BY(mutex_){Timed::Kind::kTombstones};
  DeadlineWheel deadlines_ ABSL_GUARDED_BY(mutex_);
  // Commands with a lower sequence were restored, and have a grace.
  uint64_t restored_below_ ABSL_GUARDED_BY(mutex_) = 0;
  RestartGrace grace_ ABSL_GUARDED_BY(mutex_);
  CommandCounters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_H_
