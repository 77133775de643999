#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace callslip::runner {

// The children of this process: keepers, which it starts and waits for, and strays. From the first
// keeper on, this process is the reaper of everything that a killed keeper leaves, so each child
// not started through this class is a stray.
class Children {
 public:
  static Children& OfThisProcess();

  // Like posix_spawn(): returns 0 or errno.
  int Spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
            char* const* arguments, char* const* environment);
  // Waits for a spawned child that has ended or is about to end.
  void Wait(pid_t child);

  // Kills all strays and reaps those that have ended. Returns one that has not ended yet, which can
  // leave further strays, or 0 if none is left.
  pid_t KillStrays();

  // Kills all remaining keepers and all their descendants. Waits for their end, a few seconds at
  // most. For the end of this process.
  void KillAll();

 private:
  Children();

  absl::Mutex mutex_;
  std::set<pid_t> own_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::runner
