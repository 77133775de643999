#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_WORKER_POOL_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_WORKER_POOL_H_

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

// A delivery whose command has ended without its worker.
struct EndedLease {
  CommandId id;
  LeaseToken token;
};

// What a worker's call brings: work, and commands that it held and that have ended without it.
struct WorkerNews {
  CommandLeases leases;
  std::vector<EndedLease> ended;

  bool empty() const { return leases.empty() && ended.empty(); }
};

// Called once: with news, or without any where the call's time is over or the tracker shuts down.
using WorkerCallback = std::function<void(WorkerNews&&)>;

// What a worker's call asks for.
struct LeaseTerms {
  int max_commands = 0;  // In the answer.
  int window = 0;        // Unfinished commands that the worker may hold.
  LeaseProofs proofs = LeaseProofs::kRequired;
  ClientScope clients = ClientScope::All();  // Whose commands.
};

// A worker's call that is held until there are news for it. Also the handle of whoever made it, to
// give it up. Guarded by the mutex of its partition.
struct HeldCall : Timed {
  HeldCall() : Timed(Kind::kHeldCall) {}

  Worker* worker = nullptr;  // Null once it is over.
  uint8_t partition = 0;     // Constant.
  TargetQueue* queue = nullptr;
  std::shared_ptr<ClientAccount> account;  // Whose it is.
  std::shared_ptr<HeldCall> self;          // As long as `worker` is set.
  LeaseTerms terms;
  absl::Duration back_within;  // See LeaseRequest.
  WorkerCallback callback;
  boost::intrusive::list_member_hook<> worker_hook;
};

// One worker of one target: what it holds and which of its calls are held. Lasts as long as it has
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

  absl::string_view key;                               // In the pool: of `name` and `takes`.
  std::shared_ptr<const std::string> name;             // Its id.
  ClientScope takes = ClientScope::All();              // Whose commands.
  std::shared_ptr<WorkerPresence> presence = nullptr;  // As of its last call; may be null.
  // When it last reported about a command that points to it.
  absl::Time last_report = absl::InfinitePast();
  int attached = 0;    // Commands that point to it.
  int unfinished = 0;  // Of these, the ones that it holds.
  Commands held;       // These, in the order of their delivery.
  Calls calls;         // The one held longest comes first.
  // When it will have asked again, as it said. Of interest while it has no call.
  absl::Time back_by = absl::InfinitePast();
  // Commands that ended without it, until it is told or they are removed.
  Commands ended;
  bool ready = false;  // In WorkerPool::ready_.
};

// The workers of one target: their windows, and their calls that wait for work. It changes no
// command. Guarded by its partition's mutex.
class WorkerPool {
 public:
  // The worker with this id that takes the commands of these clients, made where it is new. Of one
  // id there may be several, which have nothing in common.
  Worker* Find(const std::string& id, const ClientScope& takes, absl::Time now);
  // The same by Worker::key.
  Worker* Find(const std::string& key, absl::Time now);
  // Makes `entry` point to the worker, and remember the one that it pointed to before.
  void Attach(CommandEntry* entry, Worker* worker);
  // Undoes the last Attach().
  void Reattach(CommandEntry* entry);
  // Makes `entry` point to no worker. Harmless where it does not.
  void Detach(CommandEntry* entry);

  // The worker of `entry` holds it, or no longer.
  void OccupyPlace(CommandEntry* entry);
  void FreePlace(CommandEntry* entry);

  void Hold(Worker* worker, std::shared_ptr<HeldCall> call);
  // Ends a held call and returns it. Its worker may be suspended from now on.
  std::shared_ptr<HeldCall> Release(HeldCall* call, absl::Time now);
  // By when all workers that are suspended will have asked again, as they said; a time that has
  // passed where none is. With `client`: all that take its commands.
  absl::Time BackBy(std::optional<absl::string_view> client = std::nullopt) const;

  // The call that is to be given the next command, or nullptr: of the workers with a held call and
  // room for a command, the one that has waited longest. With `after`, which is ready: the one that
  // comes after it.
  HeldCall* NextReady(HeldCall* after = nullptr);

  std::vector<HeldCall*> HeldCalls();
  // The workers that have a call or to which a command points.
  std::vector<const Worker*> Busy() const;
  bool has_calls() const { return calls_ > 0; }
  bool IsUnused() const { return attached_ == 0 && calls_ == 0; }

 private:
  // One command less points to the worker: ForgetIfUnused(). Harmless where it is null.
  void LetGo(Worker* worker);
  // The first call of the worker, from `from` on, that may be given a command; or nullptr.
  static HeldCall* ReadyCallOf(Worker& worker, Worker::Calls::iterator from);
  // Keeps `ready_` true for one worker after a change of it.
  void Update(Worker* worker);

  absl::node_hash_map<std::string, Worker> workers_;  // By their keys.
  Pruning pruning_;
  int64_t attached_ = 0;  // Commands that point to any of them.
  int64_t calls_ = 0;     // That are held.
  boost::intrusive::list<Worker, boost::intrusive::constant_time_size<false>> ready_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_WORKER_POOL_H_
