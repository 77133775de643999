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
};

// `status` must not be OK. An error that the tracker did not give a reason came from the way there,
// and becomes UNAVAILABLE `tracker_unreachable`, whatever gRPC called it. That the tracker does not
// know the gateway is none of its callers' doing: UNAVAILABLE `tracker_refuses_gateway`.
TrackerError TrackerErrorOf(const absl::Status& status);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_TRACKER_ERROR_H_
