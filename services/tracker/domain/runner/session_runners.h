#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// Answers questions about a session's runner, for code that changes the session. Thread-safe.
class SessionRunners {
 public:
  virtual ~SessionRunners() = default;

  // The session's agent, as maker of other sessions.
  virtual Maker MakerOf(const SessionMetadata& session) = 0;

  // The runner that serves this session, which is about to be created, and no other; empty: none.
  // Once the session is created, it belongs to that runner.
  virtual std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner) = 0;
  virtual void Reserve(const SessionMetadata& session) = 0;

  // Whether the session's maker may have it; a session without an id is new. See
  // RunnerTable::CheckChild().
  virtual absl::Status CheckChild(const SessionNeed& session) = 0;
  // The same for a session to which the maker writes. If it is unassigned, it is assigned to the
  // maker's runner, so that no other runner acts on what was written. OtherRunner if an agent
  // created it, as `session` describes, and the maker's runner is not that agent's.
  virtual absl::Status CheckWrites(const SessionNeed& written, const SessionNeed& session) = 0;

  // Whether a call with this lease may act for the session's runner: see RunnerTable::CheckLease().
  // Call it on the session's thread, so that actions of a new runner come after it.
  virtual absl::Status CheckLease(const std::string& session_id, int64_t lease) = 0;
};

}  // namespace callslip::tracker
