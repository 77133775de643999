#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/worker/worker_limits.h"

namespace callslip::tracker {

// One thing that a worker has seen; see the message of the same name in worker.proto.
struct WorkerLogEntry {
  int64_t sequence = 0;
  std::string target;
  std::string worker_id;
  std::string kind;
  absl::Time time;
  Payload entry;
};

// As it comes from a worker.
struct SeenByWorker {
  Payload entry;
  std::string place;  // Where it was seen, such as `tab-12`; may be empty.
};

// A command that was reported at a place.
struct PlaceClaim {
  std::string target;
  std::string worker_id;
  std::string place;
  std::string client_id;  // Whose it is.
  absl::Time delivered;   // Since when it may have worked there.
};

// What is empty selects all.
struct WorkerLogFilter {
  std::string target;
  std::string worker_id;
  std::string kind;
};

// What workers have seen besides commands, such as the console of a page: the newest of each kind
// of each worker. Nothing here is ever told to anybody unasked, and nothing outlives the process.
//
// Each entry is somebody's: the client's whose command worked at its place, else the sender's.
//
// Thread-safe. Errors are those that worker_service.proto documents.
class WorkerLog {
 public:
  explicit WorkerLog(const WorkerLogLimits& limits = {}) : limits_(limits) {}

  // All of the entries, oldest first, or none of them. They are `sender`'s where no command has
  // claimed their places.
  absl::Status Append(std::string target, std::string worker_id, const std::string& kind,
                      const std::string& sender, std::vector<SeenByWorker> seen, absl::Time now);

  // What is seen at the place from now on is the client's, and what was since the delivery.
  void Claim(PlaceClaim claim);

  // What is theirs, newest first. `page_size` 0 means the default of 100.
  absl::StatusOr<std::vector<WorkerLogEntry>> List(const ClientScope& clients,
                                                   const WorkerLogFilter& filter, int page_size);

  // Of all entries.
  int64_t bytes();

 private:
  using Owner = std::shared_ptr<const std::string>;

  struct Entry {
    int64_t sequence;
    absl::Time time;
    Payload payload;
    std::string place;
    Owner owner;
  };
  struct Ring {
    std::deque<Entry> entries;
    size_t bytes = 0;
  };
  struct Worker {
    int64_t last_sequence = 0;
    std::map<std::string, Ring> rings;  // By kind.
  };
  using Key = std::pair<std::string, std::string>;  // Target and id.

  // The claims of one worker.
  struct Claims {
    std::deque<std::pair<std::string, Owner>> of_places;  // The latest last.
    int64_t last = 0;                                     // Of all workers' claims.
  };

  Worker& FindLocked(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Owner OwnerLocked(const Key& key, const std::string& place) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const WorkerLogLimits limits_;

  Mutex mutex_;
  std::map<Key, Worker> workers_ ABSL_GUARDED_BY(mutex_);
  int64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, Claims> claims_ ABSL_GUARDED_BY(mutex_);
  int64_t last_claim_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_
