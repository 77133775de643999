#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_REGISTRY_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_REGISTRY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/worker/worker_activity.h"
#include "tracker/domain/worker/worker_presence.h"

namespace callslip::tracker {

// What a worker says of itself; see the message of the same name in worker.proto.
struct WorkerReport {
  std::string name;
  std::string version;
  std::string browser;
  bool paused = false;
  Payload tabs;

  // Of the part that may be large.
  size_t bytes() const { return tabs == nullptr ? 0 : tabs->size(); }
};

// A worker as it stands at one moment.
struct WorkerStatus {
  std::string target;
  std::string worker_id;
  bool connected = false;
  absl::Duration seen_ago;
  std::shared_ptr<const WorkerReport> report;  // Null where it never reported.
  absl::Duration report_ago;
  std::vector<CommandPtr> commands;  // That it holds.
};

struct WorkerPage {
  std::vector<WorkerStatus> workers;
  std::string next_page_token;  // Empty on the last page.
};

struct WorkerCounts {
  int known = 0;
  int connected = 0;
  int64_t report_bytes = 0;
};

// Who tells of a worker: what client, and whose commands it takes.
struct WorkerTeller {
  std::string client = {};
  ClientScope takes = ClientScope::All();
};

// Which workers there are, when each was last heard of, and what it said of itself. Errors are
// those that worker_service.proto documents. An empty target means `browser`, an empty worker
// `default`.
//
// Thread-safe. Knows no commands: what a worker does is an argument of List(). Reads no clock.
class WorkerRegistry {
 public:
  // The worker is there, as `teller` says. Returns its presence, to be told of further calls
  // without a lock. Where there are as many as there may be, whoever has named most of one target
  // loses the one that was silent for longest: nobody pushes out the workers of others with names.
  // WorkerTaken where the teller takes one client's commands, and one of that name that takes
  // everybody's has a call that lasts, or was heard of within kNameKeptFor.
  absl::StatusOr<std::shared_ptr<WorkerPresence>> Seen(std::string target, std::string worker_id,
                                                       absl::Time now,
                                                       const WorkerTeller& teller = {});

  // Replaces what the worker said of itself before. WorkerTaken as above.
  absl::Status Report(std::string target, std::string worker_id, WorkerReport report,
                      absl::Time now, const WorkerTeller& teller = {});

  // The workers of `target`, or all where it is empty, by target and id. `activities` is what those
  // that are at work do now; `page_size` 0 means as many as there may be.
  absl::StatusOr<WorkerPage> List(const std::string& target, int page_size,
                                  const std::string& page_token,
                                  std::vector<WorkerActivity> activities, absl::Time now);

  // How many there are of all targets. `activities` as above.
  WorkerCounts Count(const std::vector<WorkerActivity>& activities, absl::Time now);
  // How many there are of each target that has any.
  std::map<std::string, WorkerCounts> CountByTarget(const std::vector<WorkerActivity>& activities,
                                                    absl::Time now);

 private:
  using Key = std::pair<std::string, std::string>;  // Target and id.

  struct Record {
    // Of who takes everybody's commands by this name, and of who takes those of one client.
    std::shared_ptr<WorkerPresence> of_all = std::make_shared<WorkerPresence>();
    std::shared_ptr<WorkerPresence> of_one = std::make_shared<WorkerPresence>();
    std::shared_ptr<const WorkerReport> report;
    absl::Time report_time;
    std::string client;  // Who told of it first.

    const std::shared_ptr<WorkerPresence>& presence(const ClientScope& takes) const {
      return takes.is_all() ? of_all : of_one;
    }
    absl::Time last_seen() const { return std::max(of_all->last_seen(), of_one->last_seen()); }
    bool is_staying() const { return of_all->is_staying() || of_one->is_staying(); }
  };

  // The worker's record, made where it is new. WorkerTaken.
  absl::StatusOr<Record*> FindLocked(Key key, absl::Time now, const WorkerTeller& teller)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetOneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SeeAtWorkLocked(const WorkerActivity& activity, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetSilentLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  absl::flat_hash_map<Key, Record> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_REGISTRY_H_
