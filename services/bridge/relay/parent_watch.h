#pragma once

#include <sys/types.h>

namespace callslip::bridge {

// Detects the death of the process that started this one. Construct it early in main(): the death
// of a parent before that is not detected.
//
// Not PR_SET_PDEATHSIG: that fires when the parent's *thread* that started us ends, and several
// agents start their servers from a pool of threads.
class ParentWatch {
 public:
  ParentWatch();
  ~ParentWatch();

  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

  // Blocks until the parent has ended; meant for a thread of its own. If the kernel provides no
  // descriptor for the parent, its id is polled ten times a second.
  void Wait() const;

 private:
  const pid_t parent_;
  const int parent_fd_;  // Readable once the parent has ended; -1 if there is none.
};

}  // namespace callslip::bridge
