#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace callslip::gateway {

// A failed call to the tracker, in the form that agents and extensions see.
struct TrackerError {
  absl::StatusCode code;
  std::string reason;
  std::string message;
  std::string hint;
  std::optional<absl::Duration> retry_after;
  bool repeatable;  // The same call may succeed later.
};

// `status` must not be OK. An error without a reason from the tracker is a connection error and
// becomes UNAVAILABLE `tracker_unreachable`, with our own message instead of gRPC's, which is
// logged at level debug. If the tracker does not know the gateway, the callers are not to blame:
// UNAVAILABLE `tracker_refuses_gateway`.
TrackerError TrackerErrorOf(const absl::Status& status);

// Whether a waiting caller should continue to wait after this error: it is repeatable, needs no
// intervention, and is not the gateway's own shutdown.
bool PassesWithTime(const absl::Status& status);

}  // namespace callslip::gateway
