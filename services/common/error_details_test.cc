#include "common/error_details.h"

#include "common/status_macros.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(ErrorDetailsTest, SurviveRoundTripThroughStatus) {
  const ErrorDetails details{.reason = "queue_full",
                             .hint = "Retry later.",
                             .retry_after = absl::Milliseconds(250),
                             .depth = 100};
  const absl::Status status =
      ErrorWithDetails(absl::StatusCode::kResourceExhausted, "full", details);
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(DetailsOf(status), details);
}

TEST(ErrorDetailsTest, PlainStatusHasNoDetails) {
  EXPECT_EQ(DetailsOf(absl::InternalError("x")), ErrorDetails{});
  EXPECT_EQ(DetailsOf(absl::OkStatus()), ErrorDetails{});
}

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(StatusMacrosTest, ReturnFirstError) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_THAT(Quarter(6), FailsWith(absl::StatusCode::kInvalidArgument, ""));
}

}  // namespace
}  // namespace callslip
