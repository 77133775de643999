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

  // Whether an agent at `maker` may have a session at `child`, which is `session_id` or new: see
  // RunnerTable::CheckChild().
  virtual absl::Status CheckChild(const AgentPlace& maker, const AgentPlace& child,
                                  const std::string& session_id) = 0;

  // Whether a call with this lease may act for the session's runner: see RunnerTable::CheckLease().
  // To be asked on the session's thread, so that what a new runner does comes after it.
  virtual absl::Status CheckLease(const std::string& session_id, int64_t lease) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_RUNNER_SESSION_RUNNERS_H_
