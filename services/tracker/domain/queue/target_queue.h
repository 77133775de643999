#pragma once

#include "absl/time/time.h"
#include "tracker/domain/queue/backlog.h"
#include "tracker/domain/queue/worker_pool.h"

namespace callslip::tracker {

// The queue of one target: commands that wait for a worker, and workers that wait for a command.
// Guarded by its partition's mutex.
class TargetQueue {
 public:
  Backlog backlog;
  WorkerPool workers;
  // When a worker last asked for commands.
  absl::Time last_poll = absl::InfinitePast();

  // True if this queue can be forgotten without loss, except for WorkerPool::BackBy().
  bool IsUnused() const { return backlog.IsUnused() && workers.IsUnused(); }
};

}  // namespace callslip::tracker
