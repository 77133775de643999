#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_ACTIVITY_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_ACTIVITY_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// What a worker that holds a call or a command does at this moment.
struct WorkerActivity {
  std::string target;
  std::string worker_id;
  ClientScope takes = ClientScope::All();         // Whose commands.
  bool polls = false;                             // A call of it is held.
  absl::Time last_report = absl::InfinitePast();  // About a command that it holds or has held.
  std::vector<CommandPtr> commands;               // DELIVERED or RUNNING, oldest first.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_ACTIVITY_H_
