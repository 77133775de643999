#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_WATCHER_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_WATCHER_H_

#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// Someone who waits for changes of one command. Called without any lock of the table held, from
// whichever thread caused the change, so that two calls may come out of order: drop a snapshot
// whose revision is not above the last one's. Must not block. Held by a shared_ptr, since a call
// may be under way on another thread while the watch is given up.
class CommandWatcher {
 public:
  virtual ~CommandWatcher() = default;

  // The command has changed. After a terminal state no further call follows.
  virtual void OnCommand(const CommandSnapshot& command) = 0;

  // The time that the watch was given is over, or the tracker shuts down. No further call follows.
  virtual void OnWaitOver() = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_WATCHER_H_
