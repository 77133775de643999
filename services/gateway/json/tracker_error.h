#ifndef CALLSLIP_GATEWAY_JSON_TRACKER_ERROR_H_
#define CALLSLIP_GATEWAY_JSON_TRACKER_ERROR_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace callslip::gateway {

// A failed call to the tracker, in the terms that agents and extensions get to see.
struct TrackerError {
  absl::StatusCode code;
  std::string reason;
  std::string message;
  std::string hint;
  std::optional<absl::Duration> retry_after;
  bool repeatable;  // The same call may be answered otherwise, later.
};

// `status` must not be OK. An error that the tracker did not give a reason came from the way there,
// and becomes UNAVAILABLE `tracker_unreachable`, in our words and not in gRPC's, which the log has
// at level debug. That the tracker does not know the gateway is none of its callers' doing:
// UNAVAILABLE `tracker_refuses_gateway`.
TrackerError TrackerErrorOf(const absl::Status& status);

// Whether whoever waits waits on over this error: it is repeatable, needs nobody's hand, and is not
// the gateway's own stop.
bool PassesWithTime(const absl::Status& status);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_TRACKER_ERROR_H_
