#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// Present activity of a worker that has a held call or holds a command.
struct WorkerActivity {
  std::string target;
  std::string worker_id;
  ClientScope takes = ClientScope::All();         // Clients whose commands it takes.
  bool polls = false;                             // It has a held call.
  absl::Time last_report = absl::InfinitePast();  // About a command that it holds or has held.
  std::vector<CommandPtr> commands;               // DELIVERED or RUNNING, oldest first.
};

}  // namespace callslip::tracker
