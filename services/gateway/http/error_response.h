#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// The body of every HTTP error: {"error": code, "message": what is wrong, "hint": what to do}.
HttpResponse ErrorResponse(int status, absl::string_view code, absl::string_view message,
                           absl::string_view hint);

// 403 `wrong_lease`, for a worker whose token is limited to some targets and whose report quotes no
// lease: the tracker, which sees only the gateway, could not enforce that limit.
HttpResponse LeaseMissing();

// 503 `too_many_bodies`: the bodies in transit of the caller, or of all callers, have reached their
// limit.
HttpResponse TooManyBodies();

// The tracker's error as HTTP: its reason as `error`, a matching status code, and Retry-After if
// the error has a delay. An error without a reason comes from the connection to the tracker: 503
// `tracker_unreachable`.
HttpResponse ErrorResponse(const absl::Status& status);

}  // namespace callslip::gateway
