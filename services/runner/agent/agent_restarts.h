#pragma once

#include <optional>

#include "absl/time/time.h"

namespace callslip::runner {

// How an agent ended, or why it was not started.
enum class AgentEnd {
  kCrashed,            // Exited or was killed without a request.
  kHung,               // Did not answer in time and was killed.
  kProtocolError,      // Sent output that cannot be parsed any further.
  kCommandMissing,     // The configured command does not exist.
  kNotExecutable,      // The configured command is not a program.
  kDirectoryUnusable,  // Its working directory is unusable.
  kRefused,            // Answered `initialize` with an error.
  kOtherVersion,       // Supports no protocol version known here.
  kLoginNeeded,        // A user must log in.
  kContextLost,        // Cannot restore its context, and must not start a new one.
};

// Decides whether and when the agent of a session is started again after an unrequested end: at
// once, then after 1 s, 2 s, 4 s, 8 s, each give or take a fifth; five times without a turn that
// the agent completed, however long each start takes. Never restarts an agent that would end the
// same way again.
class AgentRestarts {
 public:
  static constexpr int kMaxRestarts = 5;
  // How long an end is remembered if no other follows.
  static constexpr absl::Duration kMemory = absl::Minutes(10);

  // Records that the agent ended at `now`. Returns when the next start is due; nullopt if a person
  // must act first. `chance` is from 0 to 1; it spreads the starts of agents that ended together.
  std::optional<absl::Time> After(AgentEnd end, absl::Time now, double chance);

  // Whether recorded ends still count.
  bool Remembers(absl::Time now) const { return ends_ > 0 && last_ + kMemory > now; }

  // The agent completed a turn, or a person requested a start.
  void Clear() { ends_ = 0; }

 private:
  int ends_ = 0;     // Consecutive ends that were followed by a start.
  absl::Time last_;  // Time of the last end.
};

}  // namespace callslip::runner
