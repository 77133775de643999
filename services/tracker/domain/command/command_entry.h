#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ENTRY_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ENTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_watcher.h"
#include "tracker/domain/command/deadline_queue.h"

namespace callslip::tracker {

struct CommandWait;

// A command as its partition holds it: what readers see, and what they don't. All of it is guarded
// by the partition's mutex.
struct CommandEntry : Timed {
  CommandEntry() : Timed(Kind::kCommand) {}

  CommandSnapshot view;
  absl::Time last_heartbeat = absl::InfinitePast();
  std::string worker_id;  // Of the latest delivery.
  // One for each delivery, so that a worker whose lease has ended can still report.
  absl::InlinedVector<std::string, 1> lease_tokens;
  bool result_read = false;
  std::vector<std::unique_ptr<CommandWait>> waits;
};

// One watcher of one command.
struct CommandWait : Timed {
  CommandWait(CommandEntry* watched, std::shared_ptr<CommandWatcher> who)
      : Timed(Kind::kWait), entry(watched), watcher(std::move(who)) {}

  CommandEntry* const entry;
  const std::shared_ptr<CommandWatcher> watcher;
};

// What is left of a command that was removed.
struct CommandTombstone : Timed {
  CommandTombstone() : Timed(Kind::kTombstone) {}

  std::string id;
  std::string client_id;
  CommandState ended_as = CommandState::kExpired;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ENTRY_H_
