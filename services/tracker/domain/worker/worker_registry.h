#pragma once

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

// A worker's report about itself; see the message of the same name in worker.proto.
struct WorkerReport {
  std::string name;
  std::string version;
  std::string browser;
  bool paused = false;
  Payload tabs;

  // Bytes of the part that can be large.
  size_t bytes() const { return tabs == nullptr ? 0 : tabs->size(); }
};

// State of a worker at one moment.
struct WorkerStatus {
  std::string target;
  std::string worker_id;
  bool connected = false;
  absl::Duration seen_ago;
  std::shared_ptr<const WorkerReport> report;  // Null if it never reported.
  absl::Duration report_ago;
  std::vector<CommandPtr> commands;  // The ones that it holds.
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

// Source of information about a worker: its client, and the clients whose commands it takes.
struct WorkerTeller {
  std::string client = {};
  ClientScope takes = ClientScope::All();
};

// The known workers: when each was last seen, and its report about itself. Errors are documented in
// worker_service.proto. An empty target means `browser`, an empty worker `default`.
//
// Thread-safe. Knows no commands: the activity of workers is an argument of List(). Reads no clock.
class WorkerRegistry {
 public:
  // Records that the worker was seen, as reported by `teller`. Returns its presence, which records
  // further calls without a lock. If the table is full, the client with the most workers of one
  // target loses the one that was silent longest, so that no client evicts the workers of others by
  // inventing names. WorkerTaken if the teller takes one client's commands, and a worker of that
  // name that takes all clients' commands has a lasting call or was seen within kNameKeptFor.
  absl::StatusOr<std::shared_ptr<WorkerPresence>> Seen(std::string target, std::string worker_id,
                                                       absl::Time now,
                                                       const WorkerTeller& teller = {});

  // Replaces the worker's earlier report. WorkerTaken as above.
  absl::Status Report(std::string target, std::string worker_id, WorkerReport report,
                      absl::Time now, const WorkerTeller& teller = {});

  // The workers of `target`, or all if it is empty, by target and id. `activities`: what the active
  // workers do now. `page_size` 0 means the limit of the table.
  absl::StatusOr<WorkerPage> List(const std::string& target, int page_size,
                                  const std::string& page_token,
                                  std::vector<WorkerActivity> activities, absl::Time now);

  // Counts of all targets together. `activities` as above.
  WorkerCounts Count(const std::vector<WorkerActivity>& activities, absl::Time now);
  // Counts of each target that has workers.
  std::map<std::string, WorkerCounts> CountByTarget(const std::vector<WorkerActivity>& activities,
                                                    absl::Time now);

 private:
  using Key = std::pair<std::string, std::string>;  // Target and id.

  struct Record {
    // Of callers that take all clients' commands under this name, and of those that take one
    // client's.
    std::shared_ptr<WorkerPresence> of_all = std::make_shared<WorkerPresence>();
    std::shared_ptr<WorkerPresence> of_one = std::make_shared<WorkerPresence>();
    std::shared_ptr<const WorkerReport> report;
    absl::Time report_time;
    std::string client;  // Client that named it first.

    const std::shared_ptr<WorkerPresence>& presence(const ClientScope& takes) const {
      return takes.is_all() ? of_all : of_one;
    }
    absl::Time last_seen() const { return std::max(of_all->last_seen(), of_one->last_seen()); }
    bool is_staying() const { return of_all->is_staying() || of_one->is_staying(); }
  };

  // The worker's record, created if it is new. WorkerTaken as above.
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
