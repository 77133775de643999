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

  // The session's agent, as maker of other sessions and of messages.
  virtual Maker MakerOf(const SessionMetadata& session) = 0;

  // The runner that serves this session, which is about to be created, and no other; empty: none.
  // Once the session is created, it belongs to that runner.
  virtual std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner) = 0;
  virtual void Reserve(const SessionMetadata& session) = 0;

  // Whether this agent may have the session; a session without an id is new. See
  // RunnerTable::CheckChild().
  virtual absl::Status CheckChild(const Maker& maker, const SessionNeed& session) = 0;
  // The same for a session to which it writes. RunnerAway if no runner has the agent's own session.
  // OtherRunner if the session waits for other runners than the agent's.
  virtual absl::Status CheckWrites(const Maker& maker, const SessionNeed& session) = 0;

  // Whether a call with this lease may act for the session's runner: see RunnerTable::CheckLease().
  // Call it on the session's thread, so that actions of a new runner come after it.
  virtual absl::Status CheckLease(const std::string& session_id, int64_t lease) = 0;
};

}  // namespace callslip::tracker
