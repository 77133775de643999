#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
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

// What is empty selects all.
struct WorkerLogFilter {
  std::string target;
  std::string worker_id;
  std::string kind;
};

// What workers have seen besides commands, such as the console of a page: the newest of each kind
// of each worker. Nothing here is ever told to anybody unasked, and nothing outlives the process.
//
// Thread-safe. Errors are those that worker_service.proto documents.
class WorkerLog {
 public:
  explicit WorkerLog(const WorkerLogLimits& limits = {}) : limits_(limits) {}

  // All of the entries, oldest first, or none of them.
  absl::Status Append(std::string target, std::string worker_id, const std::string& kind,
                      std::vector<Payload> entries, absl::Time now);

  // Newest first. `page_size` 0 means the default of 100.
  absl::StatusOr<std::vector<WorkerLogEntry>> List(const WorkerLogFilter& filter, int page_size);

 private:
  struct Entry {
    int64_t sequence;
    absl::Time time;
    Payload payload;
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

  Worker& FindLocked(Key key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerLogLimits limits_;

  Mutex mutex_;
  std::map<Key, Worker> workers_ ABSL_GUARDED_BY(mutex_);
  int64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LOG_H_
