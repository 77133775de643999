#ifndef CALLSLIP_BRIDGE_RELAY_PARENT_WATCH_H_
#define CALLSLIP_BRIDGE_RELAY_PARENT_WATCH_H_

#include <sys/types.h>

namespace callslip::bridge {

// Notices the death of the process that started this one. Construct it early in main(): a parent
// that has died before is not noticed.
//
// Not PR_SET_PDEATHSIG: that fires when the parent's *thread* that started us ends, and several
// agents start their servers from a pool of threads.
class ParentWatch {
 public:
  ParentWatch();
  ~ParentWatch();

  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

  // Blocks until the parent has ended; meant for a thread of its own. Where the kernel gives no
  // descriptor for the parent, its id is looked at ten times a second.
  void Wait() const;

 private:
  const pid_t parent_;
  const int parent_fd_;  // Readable once the parent has ended; -1 where there is none.
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_PARENT_WATCH_H_
