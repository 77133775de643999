#pragma once

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

// One entry of a worker's log; see the message of the same name in worker.proto.
struct WorkerLogEntry {
  int64_t sequence = 0;
  std::string target;
  std::string worker_id;
  std::string kind;
  absl::Time time;
  Payload entry;
};

// An entry as a worker sends it.
struct SeenByWorker {
  Payload entry;
  std::string place;  // Where it was seen, such as `tab-12`. Can be empty.
};

// Claim of a place by a command that was reported there.
struct PlaceClaim {
  std::string target;
  std::string worker_id;
  std::string place;
  std::string client_id;  // Owner of the command.
  absl::Time
      delivered;  // When the command was delivered; it can have worked at the place since then.
};

// Empty members select all.
struct WorkerLogFilter {
  std::string target;
  std::string worker_id;
  std::string kind;
};

// Observations of workers other than commands, such as the console of a page: the newest entries of
// each kind of each worker. Entries are only listed on request, and do not outlive the process.
//
// Each entry has an owner: the client whose command worked at its place, else the sender.
//
// Thread-safe. Errors are documented in worker_service.proto.
class WorkerLog {
 public:
  explicit WorkerLog(const WorkerLogLimits& limits = {}) : limits_(limits) {}

  // Adds all of the entries, which are given oldest first, or none. `sender` owns those whose
  // places no command has claimed.
  absl::Status Append(std::string target, std::string worker_id, const std::string& kind,
                      const std::string& sender, std::vector<SeenByWorker> seen, absl::Time now);

  // Makes the client the owner of entries at the place, from now on and since the delivery.
  void Claim(PlaceClaim claim);

  // Entries of these owners, newest first. `page_size` 0 means the default of 100.
  absl::StatusOr<std::vector<WorkerLogEntry>> List(const ClientScope& clients,
                                                   const WorkerLogFilter& filter, int page_size);

  // Bytes of all entries.
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
    std::deque<std::pair<std::string, Owner>> of_places;  // Latest last.
    int64_t last = 0;  // Number of its latest claim, counted over all workers.
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
