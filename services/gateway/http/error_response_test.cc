#include "gateway/http/error_response.h"

#include <map>
#include <string>

#include "absl/status/status.h"
#include "common/error_details.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST(ErrorResponseTest, EveryTrackerCodeHasHttpStatus) {
  using Code = absl::StatusCode;
  const std::map<Code, int> statuses = {
      {Code::kCancelled, 500},
      {Code::kUnknown, 500},
      {Code::kInvalidArgument, 400},
      {Code::kDeadlineExceeded, 504},
      {Code::kNotFound, 404},
      {Code::kAlreadyExists, 409},
      {Code::kPermissionDenied, 403},
      {Code::kResourceExhausted, 429},
      {Code::kFailedPrecondition, 409},
      {Code::kAborted, 409},
      {Code::kOutOfRange, 400},
      {Code::kUnimplemented, 500},
      {Code::kInternal, 500},
      {Code::kUnavailable, 503},
      {Code::kDataLoss, 500},
      // The tracker refuses the gateway itself, whoever the caller is.
      {Code::kUnauthenticated, 503}};
  EXPECT_EQ(statuses.size(), static_cast<size_t>(Code::kUnauthenticated));
  for (const auto& [code, status] : statuses) {
    const HttpResponse response =
        ErrorResponse(ErrorWithDetails(code, "why", {.reason = "the_reason"}));
    EXPECT_EQ(response.status, status) << absl::StatusCodeToString(code);
  }
}

TEST(ErrorResponseTest, ErrorWithoutReasonMeansTrackerIsUnreachable) {
  const HttpResponse response = ErrorResponse(absl::DeadlineExceededError("late"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.error, "tracker_unreachable");
}

}  // namespace
}  // namespace callslip::gateway
