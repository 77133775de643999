#ifndef CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_
#define CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_

#include <optional>

#include "absl/time/time.h"

namespace callslip::runner {

// How an agent has ended, or why there is none.
enum class AgentEnd {
  kCrashed,            // Exited or was killed without having been asked to.
  kHung,               // Did not answer in time, and was ended for that.
  kProtocolError,      // Said what can't be read any further.
  kCommandMissing,     // What is configured is not there,
  kNotExecutable,      // or is no program.
  kDirectoryUnusable,  // Where it is to work.
  kRefused,            // Has answered `initialize` with an error.
  kOtherVersion,       // Speaks none of the protocol's versions that are known here.
  kLoginNeeded,        // A person has to log in.
  kContextLost,        // Can't give back what it knew, and may not begin anew.
};

// Whether and when the agent of a session is started again after an end that nobody has asked for:
// at once, after 1 s, 2 s, 4 s, 8 s, each give or take a fifth; five times without a turn that the
// agent has ended, however long each start takes; and never where it would end the same way.
class AgentRestarts {
 public:
  static constexpr int kMost = 5;
  // Of an end, where nothing has come after it.
  static constexpr absl::Duration kMemory = absl::Minutes(10);

  // It has ended at `now`: when the next start is due. Nothing where a person has to look first.
  // `chance` is from 0 to 1, so that agents that ended together don't all start together.
  std::optional<absl::Time> After(AgentEnd end, absl::Time now, double chance);

  // Whether it counts for anything still.
  bool Remembers(absl::Time now) const { return ends_ > 0 && last_ + kMemory > now; }

  // The agent has ended a turn as it should, or a person has looked, and wants it started.
  void Clear() { ends_ = 0; }

 private:
  int ends_ = 0;     // In a row, that were followed by a start.
  absl::Time last_;  // Of them.
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_
