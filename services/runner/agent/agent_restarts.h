#ifndef CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_
#define CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_

#include <deque>
#include <optional>

#include "absl/time/time.h"

namespace callslip::runner {

// How an agent has ended, or why there is none.
enum class AgentEnd {
  kCrashed,         // Exited or was killed without having been asked to.
  kHung,            // Did not answer in time, and was ended for that.
  kProtocolError,   // Said what can't be read any further.
  kCommandMissing,  // What is configured is not there,
  kNotExecutable,   // or is no program,
  kNoDirectory,     // or the session has nowhere to work.
  kLoginNeeded,     // A person has to log in.
};

// Whether and when the agent of a session is started again after an end that nobody has asked for:
// at once, after 1 s, 2 s, 4 s … 30 s, each give or take a fifth; five times in ten minutes, and
// never where it would end the same way.
class AgentRestarts {
 public:
  static constexpr int kMost = 5;
  static constexpr absl::Duration kWindow = absl::Minutes(10);
  static constexpr absl::Duration kLongest = absl::Seconds(30);

  // It has ended at `now`: when the next start is due. Nothing where a person has to look first.
  // `chance` is from 0 to 1, so that agents that ended together don't all start together.
  std::optional<absl::Time> After(AgentEnd end, absl::Time now, double chance);

  // Whether it counts for anything still.
  bool Remembers(absl::Time now) const { return !ends_.empty() && ends_.back() + kWindow > now; }

  // A person has looked, and wants it started.
  void Clear() { ends_.clear(); }

 private:
  std::deque<absl::Time> ends_;  // Of the last ten minutes, that were followed by a start.
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_AGENT_RESTARTS_H_
