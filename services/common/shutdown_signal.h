#ifndef CALLSLIP_COMMON_SHUTDOWN_SIGNAL_H_
#define CALLSLIP_COMMON_SHUTDOWN_SIGNAL_H_

#include "absl/time/time.h"

namespace callslip {

// Turns SIGTERM and SIGINT into something that main() waits for.
//
// Construct it first in main(), before any thread: it blocks both signals for the calling thread
// and all threads started from it, so that no handler runs at an awkward moment. It also ignores
// SIGPIPE, since a peer that leaves is an ordinary event here.
class ShutdownSignal {
 public:
  ShutdownSignal();

  // Blocks until one of the signals arrives; returns its number.
  int Wait() const;
  // The same for so long at most; false where none has arrived.
  bool WaitFor(absl::Duration longest) const;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_SHUTDOWN_SIGNAL_H_
