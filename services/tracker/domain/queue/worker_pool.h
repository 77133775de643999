#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "boost/intrusive/list.hpp"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/queue/command_entry.h"
#include "tracker/domain/queue/deadline_wheel.h"
#include "tracker/domain/queue/pruning.h"
#include "tracker/domain/worker/worker_presence.h"

namespace callslip::tracker {

class ClientAccount;

// A delivery whose command ended without a report of its worker.
struct EndedLease {
  CommandId id;
  LeaseToken token;
};

// Answer to a worker's call: leases, and commands that the worker held and that ended without it.
struct WorkerNews {
  CommandLeases leases;
  std::vector<EndedLease> ended;

  bool empty() const { return leases.empty() && ended.empty(); }
};

// Called once: with news, or without any if the call's time is over or the tracker shuts down.
using WorkerCallback = std::function<void(WorkerNews&&)>;

// Parameters of a worker's call.
struct LeaseTerms {
  int max_commands = 0;  // In the answer.
  int window = 0;        // Unfinished commands that the worker may hold.
  LeaseProofs proofs = LeaseProofs::kRequired;
  ClientScope clients = ClientScope::All();  // Clients whose commands it takes.
};

// A worker's call that is held until there are news for it. Also its caller's handle to abandon it.
// Guarded by the mutex of its partition.
struct HeldCall : Timed {
  HeldCall() : Timed(Kind::kHeldCall) {}

  Worker* worker = nullptr;  // Null once it is over.
  uint8_t partition = 0;     // Constant.
  TargetQueue* queue = nullptr;
  std::shared_ptr<ClientAccount> account;  // Client to which its wait counts.
  std::shared_ptr<HeldCall> self;          // Set while `worker` is.
  LeaseTerms terms;
  absl::Duration back_within;  // See LeaseRequest.
  WorkerCallback callback;
  boost::intrusive::list_member_hook<> worker_hook;
};

// One worker of one target: the commands that it holds, and its held calls. Lasts as long as it has
// a call or a command points to it.
struct Worker : boost::intrusive::list_base_hook<> {
  using Calls = boost::intrusive::list<
      HeldCall,
      boost::intrusive::member_hook<HeldCall, boost::intrusive::list_member_hook<>,
                                    &HeldCall::worker_hook>,
      boost::intrusive::constant_time_size<false>>;

  using Commands = boost::intrusive::list<
      CommandEntry,
      boost::intrusive::member_hook<CommandEntry, boost::intrusive::list_member_hook<>,
                                    &CommandEntry::queue_hook>,
      boost::intrusive::constant_time_size<false>>;

  absl::string_view key;                               // In the pool: from `name` and `takes`.
  std::shared_ptr<const std::string> name;             // Its id.
  ClientScope takes = ClientScope::All();              // Clients whose commands it takes.
  std::shared_ptr<WorkerPresence> presence = nullptr;  // Of its last call; can be null.
  // When it last reported about a command that points to it.
  absl::Time last_report = absl::InfinitePast();
  int attached = 0;    // Commands that point to it.
  int unfinished = 0;  // Of these, the ones that it holds.
  Commands held;       // These, in the order of their delivery.
  Calls calls;         // Longest held first.
  // When it will have called again, as it announced. Used while it has no call.
  absl::Time back_by = absl::InfinitePast();
  // Commands that ended without it, until it is notified or they are removed.
  Commands ended;
  bool ready = false;  // In WorkerPool::ready_.
};

// The workers of one target: their windows, and their held calls. Changes no command. Guarded by
// its partition's mutex.
class WorkerPool {
 public:
  // The worker with this id that takes the commands of these clients, created if it is new. Several
  // workers can have the same id; they have nothing in common.
  Worker* Find(const std::string& id, const ClientScope& takes, absl::Time now);
  // The same by Worker::key.
  Worker* Find(const std::string& key, absl::Time now);
  // Makes `entry` point to the worker, and remembers the one that it pointed to before.
  void Attach(CommandEntry* entry, Worker* worker);
  // Undoes the last Attach().
  void Reattach(CommandEntry* entry);
  // Makes `entry` point to no worker. Harmless if it already does.
  void Detach(CommandEntry* entry);

  // The worker of `entry` begins, or ceases, to hold it.
  void OccupyPlace(CommandEntry* entry);
  void FreePlace(CommandEntry* entry);

  void Hold(Worker* worker, std::shared_ptr<HeldCall> call);
  // Ends a held call and returns it. Its worker may be suspended from now on.
  std::shared_ptr<HeldCall> Release(HeldCall* call, absl::Time now);
  // When all suspended workers will have called again, as they announced; a past time if none is
  // suspended. With `client`: all that take its commands.
  absl::Time BackBy(std::optional<absl::string_view> client = std::nullopt) const;

  // The call that gets the next command, or nullptr: of the workers with a held call and room for a
  // command, the one that has waited longest. With `after`, which is ready: the one after it.
  HeldCall* NextReady(HeldCall* after = nullptr);

  std::vector<HeldCall*> HeldCalls();
  // The workers that have a call or to which a command points.
  std::vector<const Worker*> Busy() const;
  bool has_calls() const { return calls_ > 0; }
  bool IsUnused() const { return attached_ == 0 && calls_ == 0; }

 private:
  // One command less points to the worker. Harmless if it is null.
  void LetGo(Worker* worker);
  // The worker's first call, from `from` on, that can be given a command; or nullptr.
  static HeldCall* ReadyCallOf(Worker& worker, Worker::Calls::iterator from);
  // Updates `ready_` after a change of one worker.
  void Update(Worker* worker);

  absl::node_hash_map<std::string, Worker> workers_;  // By their keys.
  Pruning pruning_;
  int64_t attached_ = 0;  // Commands that point to any of them.
  int64_t calls_ = 0;     // Held calls.
  boost::intrusive::list<Worker, boost::intrusive::constant_time_size<false>> ready_;
};

}  // namespace callslip::tracker
