#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_TABLE_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_TABLE_H_

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

// All commands of a tracker: checks what comes in and routes it to the partition of its target, or
// to the partition that its id names. Errors are those that command_service.proto documents. An
// empty client_id means `local`, an empty target `browser`, an empty worker `default`.
//
// Thread-safe. Knows no transport, and no clock: `now` is the time of each call, and someone must
// call FireDeadlines() when NextDeadlineTime() has come (see DeadlineThread).
class CommandTable {
 public:
  // Told of each call's earliest new deadline. Must be cheap and must not call back.
  using DeadlineListener = std::function<void(absl::Time)>;

  // `deadlines` must be valid (CommandDeadlines::Validate()).
  // With a journal, which must outlive the table, every change is appended to it: whoever runs the
  // table sees to it that nothing is told before it is kept.
  explicit CommandTable(const CommandDeadlines& deadlines, const CommandLimits& limits = {},
                        Journal* journal = nullptr);

  // Brings back what `storage` has kept, as of `now`: the same journal makes the same state. Before
  // everything else. What is later than `now`, since the clock was set back, is moved back to it.
  // Entries about drawings go to `others`, as moved, after all that are about commands; null:
  // nowhere.
  absl::Status Restore(JournalStorage& storage, absl::Time now,
                       const std::function<void(JournalEntry)>& others = nullptr);

  // To be called before the table is used by more than one thread.
  void SetDeadlineListener(DeadlineListener listener) { listener_ = std::move(listener); }

  // Told of each command that has ended without having been completed or cancelled. Under no lock;
  // must be cheap and must not call back.
  using FailureListener = std::function<void(const CommandSnapshot&)>;
  // To be called before the table is used by more than one thread.
  void SetFailureListener(FailureListener listener) { failure_listener_ = std::move(listener); }

  // The same for each command that has ended, when it does. That a result was not collected later
  // is no second end.
  void SetEndListener(FailureListener listener) {
    end_listener_ = std::move(listener);
    shared_.hears_ends = true;
  }

  // For clients.

  // Of `request` it leaves nothing that is of use.
  absl::StatusOr<CommandRegistration> Register(CommandRequest&& request, absl::Time now);
  // The new command is that of the old one's client; `request_id` too.
  absl::StatusOr<CommandRegistration> Replay(const ClientScope& clients, const std::string& id,
                                             std::string request_id, absl::Time now);
  // Collects the result unless it is only looked at, as it always is where `clients` are all.
  // Whoever may fail to hand it on looks, and collects once that is done.
  absl::StatusOr<CommandPtr> Get(const ClientScope& clients, const std::string& id, bool peek);
  // Somebody has been given `command`, and with its end the result: the read receipt.
  void Collect(const CommandSnapshot& command);
  // Whoever asks: as it is now, only looked at.
  absl::StatusOr<CommandPtr> Find(CommandId id);
  // Whoever asks: for looking at reports before they are taken. Collects nothing.
  absl::StatusOr<HeldCommand> HeldBy(const std::string& id);
  // `page_size` 0 means the default.
  absl::StatusOr<CommandPage> List(const ClientScope& clients, const CommandFilter& filter,
                                   int page_size, const std::string& page_token);
  // As above, of each group (see CommandGroup) a page, at most 300 long, in the groups' order. The
  // token is empty where no group has more, and good for nothing else.
  absl::StatusOr<CommandPage> ListGroups(const ClientScope& clients, const CommandFilter& filter,
                                         int page_size);
  absl::StatusOr<CommandPtr> Cancel(const ClientScope& clients, const std::string& id,
                                    absl::Time now);
  absl::StatusOr<CommandPtr> Expire(const ClientScope& clients, const std::string& id,
                                    CommandError error, absl::Time now);

  // A watch that goes on, for Unwatch(). Null where it is over already.
  struct Watching {
    std::shared_ptr<CommandWatch> command;
    std::shared_ptr<const FilterWatch> filter;
    std::shared_ptr<ClientAccount> account;  // Of the filter.
  };

  // Tells the feed the command's present state if its revision is above `after_revision`, then each
  // change, until the end of the command or `request.until`. The end is told in any case.
  absl::StatusOr<Watching> Watch(const std::string& id, WatchRequest request);
  // Tells the feed the present state of every command that matches, now and later, then each
  // change, until Unwatch().
  absl::StatusOr<Watching> WatchAll(FilterWatch watch);
  // Harmless where the watch is over. What it has told already stays in the feed.
  void Unwatch(const Watching& watching);

  // For workers.

  // Calls `callback` once: with news, or without any after `max_wait`; maybe before it returns.
  // The zeros of `request` mean as much as a worker may hold.
  // Returns the held call, for Abandon(), or null where it has been answered.
  absl::StatusOr<std::shared_ptr<HeldCall>> Lease(LeaseRequest request, absl::Time now,
                                                  WorkerCallback callback);
  // Once this has returned true, the callback will not be called.
  bool Abandon(const std::shared_ptr<HeldCall>& call, absl::Time now);
  // A wait of a client for something else than commands, which counts as all others do, until what
  // is returned goes; that has to be before the table does. TooManyWaits.
  absl::StatusOr<std::shared_ptr<void>> HoldWait(const std::string& client_id);
  // Undoes a lease that never reached its worker: the command is queued as if it had not been
  // leased. Harmless where anything has happened to it since. Where another call of it is under way
  // that one sees to it.
  void GiveBack(const CommandLease& lease, absl::Time now);

  absl::StatusOr<AcknowledgeResult> Acknowledge(const std::string& id, const LeaseProof& proof,
                                                std::optional<CommandProgress> progress,
                                                Payload context, absl::Time now,
                                                Heartbeats heartbeats = Heartbeats::kExpected);
  absl::StatusOr<CompleteResult> Complete(const std::string& id, const LeaseProof& proof,
                                          CommandOutcome outcome, Payload context, absl::Time now,
                                          WorkTime work = {});

  // What the workers of `target`, or of all targets where it is empty, do now: those that hold a
  // call or a command. One look at all that is unfinished.
  std::vector<WorkerActivity> Activities(const std::string& target);

  // What there is to do of `clients`, of each target that has anything, in no order.
  std::vector<TargetLoad> Loads(const ClientScope& clients);
  const CommandLimits& limits() const { return shared_.limits; }

  // For what is kept beside the commands, in the same journal.

  // The next number in the order of registration.
  uint64_t NewSequence() { return shared_.next_sequence++; }
  // The commands that a person still has to finish, in the order of registration. One look at all
  // that is unfinished.
  std::vector<CommandPtr> UnfinishedOfPeople();

  // For whoever runs the table.

  absl::Time NextDeadlineTime();
  void FireDeadlines(absl::Time now);
  // From now on new commands, watches and leases are refused; ends every watch and held call as if
  // its time were over. Reports and reads go on.
  void Drain();
  bool draining() const { return draining_; }

  // Calls `action` once no worker holds a command: at once where that is so, else from the call
  // that brings it about. Null takes it back. A call that another thread has begun may go on after
  // that: `action` must own what it uses.
  void OnNoLeases(std::function<void()> action);

  // Results that came for commands which had ended already, since the start.
  int64_t late_results() const { return shared_.late_results; }
  // Watches and held calls at this moment.
  int64_t waits() const { return shared_.waits; }
  int64_t feed_bytes() const { return shared_.accounts.feed_bytes(); }
  // Commands that a worker holds.
  int64_t leased() const { return shared_.leased; }
  int64_t commands() const { return shared_.usage.commands(); }
  int64_t payload_bytes() const { return shared_.usage.bytes(); }
  // What commands have done, and what waits. One partition after the other, each for a moment.
  CommandStatistics Statistics();

 private:
  // Enough that two poller threads rarely meet; few enough that a look at all of them is cheap.
  static constexpr int kPartitions = 16;

  // Of each group at least the `limit` newest below a sequence that match; newest first.
  std::vector<CommandPtr> Newest(const ClientScope& clients, const CommandFilter& filter,
                                 uint64_t before, int limit);
  CommandPartition& PartitionOf(absl::string_view target);
  CommandPartition& PartitionOf(const CommandId& id) { return *partitions_[id.partition()]; }

  absl::StatusOr<CommandRegistration> RegisterChecked(
      const CommandRequest& request, std::shared_ptr<const CommandDeadlines> deadlines,
      absl::Time now, CommandEffects& effects);
  // The command that a request_id has made; null where there is none.
  CommandPtr FindRequest(const std::string& client_id, const std::string& request_id);
  absl::StatusOr<CommandPtr> End(const ClientScope& clients, const std::string& id,
                                 CommandEvent event, CommandError error, absl::Time now);
  // Calls the action of OnNoLeases(), where there is one, for the last time.
  void RunNoLeasesAction();
  // Null, once, where none is left.
  std::optional<CommandLease> NextGivenBack();
  // Carries out what a call has caused.
  void Run(CommandEffects& effects, absl::Time now);

  CommandTableShared shared_;
  RequestIndex requests_;
  std::vector<std::unique_ptr<CommandPartition>> partitions_;
  DeadlineListener listener_;
  FailureListener failure_listener_;
  FailureListener end_listener_;
  std::atomic<bool> draining_{false};
  // Spares the lock where there is none, which is nearly always.
  std::atomic<bool> has_no_leases_action_{false};
  Mutex no_leases_mutex_;
  std::function<void()> on_no_leases_ ABSL_GUARDED_BY(no_leases_mutex_);
  // Whoever gets a command next may give it back from within, and so on: while a storage fails, all
  // who wait for commands do. They wait here for the first call of GiveBack(), instead of one
  // inside the other.
  Mutex given_back_mutex_;
  std::vector<CommandLease> given_back_ ABSL_GUARDED_BY(given_back_mutex_);
  bool giving_back_ ABSL_GUARDED_BY(given_back_mutex_) = false;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_TABLE_H_
