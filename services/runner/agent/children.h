#ifndef CALLSLIP_RUNNER_AGENT_CHILDREN_H_
#define CALLSLIP_RUNNER_AGENT_CHILDREN_H_

#include <spawn.h>
#include <sys/types.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace callslip::runner {

// The children of this process: keepers, which it has started and waits for, and strays. From the
// first keeper on, this process is the reaper of whatever a keeper leaves that is killed, so that
// each child which it has not started in here is a stray.
class Children {
 public:
  static Children& OfThisProcess();

  // As posix_spawn(): 0, or errno.
  int Spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
            char* const* arguments, char* const* environment);
  // Waits for one that it has spawned, and that has ended or is about to.
  void Wait(pid_t child);

  // Kills all strays, and reaps those that have ended. Returns one that has not ended yet, which
  // may leave further ones, or 0 where none is left.
  pid_t KillStrays();

  // Kills all keepers that there still are, with all that came of them. Waits for their end, for
  // some seconds at most. For the end of this process.
  void KillAll();

 private:
  Children();

  absl::Mutex mutex_;
  std::set<pid_t> own_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_CHILDREN_H_
