#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/queue/command_partition.h"
#include "tracker/domain/queue/request_index.h"

namespace callslip::tracker {

struct CommandRegistration {
  CommandPtr command;
  bool existed = false;  // The request_id was known.
};

struct CommandPage {
  std::vector<CommandPtr> commands;
  std::string next_page_token;  // Empty on the last page.
};

// All commands of a tracker: checks input and routes it to the partition of its target, or to the
// partition that its id names. Errors are documented in command_service.proto. An empty client_id
// means `local`, an empty target `browser`, an empty worker `default`.
//
// Thread-safe. Knows no transport and no clock: `now` is the time of each call, and the owner must
// call FireDeadlines() when NextDeadlineTime() has come (see DeadlineThread).
class CommandTable {
 public:
  // Called with each call's earliest new deadline. Must be cheap and must not call back.
  using DeadlineListener = std::function<void(absl::Time)>;

  // `deadlines` must be valid (CommandDeadlines::Validate()). With a journal, which must outlive
  // the table, every change is appended to it: the owner of the table must not send any output
  // before that is stored.
  explicit CommandTable(const CommandDeadlines& deadlines, const CommandLimits& limits = {},
                        Journal* journal = nullptr);

  // Restores what `storage` has kept, as of `now`: the same journal yields the same state. Call
  // before everything else. Times after `now`, because the clock was set back, are moved back to
  // it. Entries about drawings are passed to `others`, with their times moved, after all entries
  // about commands; if null, they are dropped.
  absl::Status Restore(JournalStorage& storage, absl::Time now,
                       const std::function<void(JournalEntry)>& others = nullptr);

  // Call before the table is used by more than one thread.
  void SetDeadlineListener(DeadlineListener listener) { listener_ = std::move(listener); }

  // Called for each command that ended, but was not completed or cancelled. Called without locks;
  // must be cheap and must not call back.
  using FailureListener = std::function<void(const CommandSnapshot&)>;
  // Call before the table is used by more than one thread.
  void SetFailureListener(FailureListener listener) { failure_listener_ = std::move(listener); }

  // The same for each command, when it ends. A result that is not collected later is no second end.
  void SetEndListener(FailureListener listener) {
    end_listener_ = std::move(listener);
    shared_.hears_ends = true;
  }

  // For clients.

  // Consumes `request`.
  absl::StatusOr<CommandRegistration> Register(CommandRequest&& request, absl::Time now);
  // The new command, and `request_id`, belong to the client of the old one.
  absl::StatusOr<CommandRegistration> Replay(const ClientScope& clients, const std::string& id,
                                             std::string request_id, absl::Time now);
  // Collects the result, unless `peek` is set or `clients` is all. A caller that can fail to pass
  // the result on should peek, and call Collect() afterwards.
  absl::StatusOr<CommandPtr> Get(const ClientScope& clients, const std::string& id, bool peek);
  // A reader received `command`. If it has ended, its result counts as read.
  void Collect(const CommandSnapshot& command);
  // The present state of any client's command. Collects nothing.
  absl::StatusOr<CommandPtr> Find(CommandId id);
  // Any client's command, to check reports before they are accepted. Collects nothing.
  absl::StatusOr<HeldCommand> HeldBy(const std::string& id);
  // `page_size` 0 means the default.
  absl::StatusOr<CommandPage> List(const ClientScope& clients, const CommandFilter& filter,
                                   int page_size, const std::string& page_token);
  // As above, but one page of at most 300 for each group (see CommandGroup), in the groups' order.
  // The token is empty if no group has more, and has no other use.
  absl::StatusOr<CommandPage> ListGroups(const ClientScope& clients, const CommandFilter& filter,
                                         int page_size);
  absl::StatusOr<CommandPtr> Cancel(const ClientScope& clients, const std::string& id,
                                    absl::Time now);
  absl::StatusOr<CommandPtr> Expire(const ClientScope& clients, const std::string& id,
                                    CommandError error, absl::Time now);

  // A watch in progress, for Unwatch(). Null if it is over already.
  struct Watching {
    std::shared_ptr<CommandWatch> command;
    std::shared_ptr<const FilterWatch> filter;
    std::shared_ptr<ClientAccount> account;  // Of the filter.
  };

  // Pushes the command's present state to the feed if its revision is above `after_revision`, then
  // each change, until the end of the command or `request.until`. The end is always pushed.
  absl::StatusOr<Watching> Watch(const std::string& id, WatchRequest request);
  // Pushes the present state of every command that matches, now or later, to the feed, then each
  // change, until Unwatch().
  absl::StatusOr<Watching> WatchAll(FilterWatch watch);
  // Harmless if the watch is over. Updates that are in the feed already stay there.
  void Unwatch(const Watching& watching);

  // For workers.

  // Calls `callback` once: with news, or without any after `request.hold_until`; possibly before
  // this returns. Zeros in `request` mean as much as a worker may hold. Returns the held call, for
  // Abandon(), or null if it was answered.
  absl::StatusOr<std::shared_ptr<HeldCall>> Lease(LeaseRequest request, absl::Time now,
                                                  WorkerCallback callback);
  // Once this has returned true, the callback will not be called.
  bool Abandon(const std::shared_ptr<HeldCall>& call, absl::Time now);
  // Counts a wait of a client for something other than commands until the returned object is
  // released, which must be before the table is destroyed. TooManyWaits if a limit is reached.
  absl::StatusOr<std::shared_ptr<void>> HoldWait(const std::string& client_id);
  // Undoes a lease that never reached its worker: the command is queued as if it had not been
  // leased. Harmless if the command has changed since. If another call of this is running, that
  // call does the work.
  void GiveBack(const CommandLease& lease, absl::Time now);

  absl::StatusOr<AcknowledgeResult> Acknowledge(const std::string& id, const LeaseProof& proof,
                                                std::optional<CommandProgress> progress,
                                                Payload context, absl::Time now,
                                                Heartbeats heartbeats = Heartbeats::kExpected);
  absl::StatusOr<CompleteResult> Complete(const std::string& id, const LeaseProof& proof,
                                          CommandOutcome outcome, Payload context, absl::Time now,
                                          WorkTime work = {});

  // Present activities of the workers of `target`, or of all targets if it is empty: those that
  // have a held call or hold a command. Visits all of these workers and commands.
  std::vector<WorkerActivity> Activities(const std::string& target);

  // The load of each target that has any, counting commands of `clients`, in no order.
  std::vector<TargetLoad> Loads(const ClientScope& clients);
  const CommandLimits& limits() const { return shared_.limits; }

  // For other objects in the same journal.

  // The next number in the order of registration.
  uint64_t NewSequence() { return shared_.next_sequence++; }
  // The commands that a person must still finish, in the order of registration. Visits all
  // unfinished commands.
  std::vector<CommandPtr> UnfinishedOfPeople();

  // For the owner of the table.

  absl::Time NextDeadlineTime();
  void FireDeadlines(absl::Time now);
  // Refuses new commands, watches and leases from now on; ends every watch and held call as if its
  // time were over. Reports and reads continue.
  void Drain();
  bool draining() const { return draining_; }

  // Calls `action` when no worker holds a command: at once if that is so, else from the call that
  // causes it. Null removes the action. A call that another thread has begun can continue after
  // that: `action` must own what it uses.
  void OnNoLeases(std::function<void()> action);

  // Results that arrived after their commands had ended, since the start.
  int64_t late_results() const { return shared_.late_results; }
  // Present watches and held calls.
  int64_t waits() const { return shared_.waits; }
  int64_t feed_bytes() const { return shared_.accounts.feed_bytes(); }
  // Commands that a worker holds.
  int64_t leased() const { return shared_.leased; }
  int64_t commands() const { return shared_.usage.commands(); }
  int64_t payload_bytes() const { return shared_.usage.bytes(); }
  // Statistics of commands, and the present queues. Locks one partition after the other, each
  // briefly.
  CommandStatistics Statistics();

 private:
  // Enough that two poller threads rarely meet; few enough that visiting all of them is cheap.
  static constexpr int kPartitions = 16;

  // Matching commands below a sequence, newest first: of each group at least the newest `limit`.
  std::vector<CommandPtr> Newest(const ClientScope& clients, const CommandFilter& filter,
                                 uint64_t before, int limit);
  CommandPartition& PartitionOf(absl::string_view target);
  CommandPartition& PartitionOf(const CommandId& id) { return *partitions_[id.partition()]; }

  absl::StatusOr<CommandRegistration> RegisterChecked(
      const CommandRequest& request, std::shared_ptr<const CommandDeadlines> deadlines,
      absl::Time now, CommandEffects& effects);
  // The command that a request_id created; null if there is none.
  CommandPtr FindRequest(const std::string& client_id, const std::string& request_id);
  absl::StatusOr<CommandPtr> End(const ClientScope& clients, const std::string& id,
                                 CommandEvent event, CommandError error, absl::Time now);
  // Calls the action of OnNoLeases(), if there is one, and removes it.
  void RunNoLeasesAction();
  // Nullopt, once, if none is left.
  std::optional<CommandLease> NextGivenBack();
  // Carries out the effects of a call.
  void Run(CommandEffects& effects, absl::Time now);

  CommandTableShared shared_;
  RequestIndex requests_;
  std::vector<std::unique_ptr<CommandPartition>> partitions_;
  DeadlineListener listener_;
  FailureListener failure_listener_;
  FailureListener end_listener_;
  std::atomic<bool> draining_{false};
  // Avoids the lock if there is no action, which is nearly always.
  std::atomic<bool> has_no_leases_action_{false};
  Mutex no_leases_mutex_;
  std::function<void()> on_no_leases_ ABSL_GUARDED_BY(no_leases_mutex_);
  // The next receiver of a command may give it back from within its callback, and so on: while a
  // storage fails, all waiting calls do. Their leases wait here for the first call of GiveBack(),
  // so that calls do not nest.
  Mutex given_back_mutex_;
  std::vector<CommandLease> given_back_ ABSL_GUARDED_BY(given_back_mutex_);
  bool giving_back_ ABSL_GUARDED_BY(given_back_mutex_) = false;
};

}  // namespace callslip::tracker
