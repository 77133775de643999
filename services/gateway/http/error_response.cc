#include "gateway/http/error_response.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gateway/json/parse.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {
namespace {

int HttpStatusOf(const TrackerError& error) {
  if (error.reason == "result_too_large" || error.reason == "drawing_too_large") return 413;
  // Space is freed when messages are sent or deleted, not by waiting.
  if (error.reason == "queue_full") return 409;
  switch (error.code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: return 400;
    case absl::StatusCode::kPermissionDenied: return 403;
    case absl::StatusCode::kNotFound: return 404;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition: return 409;
    case absl::StatusCode::kResourceExhausted: return 429;
    case absl::StatusCode::kUnavailable: return 503;
    // It may still be completed.
    case absl::StatusCode::kDeadlineExceeded: return 504;
    default: return 500;
  }
}

}  // namespace

HttpResponse ErrorResponse(int status, absl::string_view code, absl::string_view message,
                           absl::string_view hint) {
  Json body = {{"error", std::string(code)}, {"message", std::string(message)}};
  if (!hint.empty()) body["hint"] = std::string(hint);
  HttpResponse response;
  response.status = status;
  response.error = std::string(code);
  response.body = Dump(body);
  return response;
}

HttpResponse TooManyBodies() {
  HttpResponse response = ErrorResponse(503, "too_many_bodies",
                                        "Too many large requests are on their way to the gateway.",
                                        "Try again in a moment.");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse LeaseMissing() {
  return ErrorResponse(403, "wrong_lease", "The report does not quote the lease that it is about.",
                       "Send the id that came with the command: the token of this worker holds it "
                       "to some targets.");
}

HttpResponse ErrorResponse(const absl::Status& status) {
  const TrackerError error = TrackerErrorOf(status);
  HttpResponse response =
      ErrorResponse(HttpStatusOf(error), error.reason, error.message, error.hint);
  if (error.retry_after.has_value()) {
    response.headers.emplace_back(
        "Retry-After",
        absl::StrCat(absl::ToInt64Seconds(absl::Ceil(*error.retry_after, absl::Seconds(1)))));
  }
  return response;
}

}  // namespace callslip::gateway
