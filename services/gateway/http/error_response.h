#ifndef CALLSLIP_GATEWAY_HTTP_ERROR_RESPONSE_H_
#define CALLSLIP_GATEWAY_HTTP_ERROR_RESPONSE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// The body of every HTTP error: {"error": code, "message": what is wrong, "hint": what to do}.
HttpResponse ErrorResponse(int status, absl::string_view code, absl::string_view message,
                           absl::string_view hint);

// 403 `wrong_lease`, to a worker whose token holds it to some targets and whose report quotes no
// lease: the tracker, which knows the gateway alone, could not hold it to them.
HttpResponse LeaseMissing();

// 503 `too_many_bodies`: what is on its way of its caller, or of all, is as much as there may be.
HttpResponse TooManyBodies();

// The tracker's error as HTTP: its reason as `error`, a fitting status code, and Retry-After where
// it names a delay. An error without a reason came from the connection to the tracker: 503
// `tracker_unreachable`.
HttpResponse ErrorResponse(const absl::Status& status);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ERROR_RESPONSE_H_
