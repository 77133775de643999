#pragma once

#include "absl/time/time.h"

namespace callslip {

// Lets main() wait for SIGTERM and SIGINT.
//
// Construct it first in main(), before any thread: it blocks both signals for the calling thread
// and all threads started from it, so that no signal handler runs. It also ignores SIGPIPE, because
// a disconnecting peer is an ordinary event here.
class ShutdownSignal {
 public:
  ShutdownSignal();

  // Blocks until one of the signals arrives; returns its number.
  int Wait() const;
  // As Wait(), for at most `longest`; false if no signal has arrived.
  bool WaitFor(absl::Duration longest) const;
};

}  // namespace callslip
