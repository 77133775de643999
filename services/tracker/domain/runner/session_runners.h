#ifndef CALLSLIP_TRACKER_DOMAIN_RUNNER_SESSION_RUNNERS_H_
#define CALLSLIP_TRACKER_DOMAIN_RUNNER_SESSION_RUNNERS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// What whoever changes a session asks about its runner. Thread-safe.
class SessionRunners {
 public:
  virtual ~SessionRunners() = default;

  // The agent of that session, as a maker of others.
  virtual Maker MakerOf(const SessionMetadata& session) = 0;

  // The runner that serves that session, which is to be made, and no other one; empty: none. Once
  // it is made, it is that one's.
  virtual std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner) = 0;
  virtual void Reserve(const SessionMetadata& session) = 0;

  // Whether the session's maker may have it, which is new where it has no id: see
  // RunnerTable::CheckChild().
  virtual absl::Status CheckChild(const SessionNeed& session) = 0;
  // The same of a session that the maker writes to. One that is nobody's is its runner's then, so
  // that no other one acts by what was written; OtherRunner where an agent has made it, as
  // `session` has it, whose runner that is not.
  virtual absl::Status CheckWrites(const SessionNeed& written, const SessionNeed& session) = 0;

  // Whether a call with this lease may act for the session's runner: see RunnerTable::CheckLease().
  // To be asked on the session's thread, so that what a new runner does comes after it.
  virtual absl::Status CheckLease(const std::string& session_id, int64_t lease) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_RUNNER_SESSION_RUNNERS_H_
