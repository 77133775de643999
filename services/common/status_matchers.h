#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/error_details.h"
#include "gmock/gmock.h"

// gMock matchers and assertion macros for absl::Status and absl::StatusOr<T>. Test code only.
namespace callslip {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// Matches the code and the machine-readable reason (see error_details.h).
MATCHER_P2(FailsWith, code, reason, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString();
  return status.code() == code && DetailsOf(status).reason == reason;
}

}  // namespace callslip

#define EXPECT_OK(expression) EXPECT_THAT(expression, ::callslip::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT(expression, ::callslip::IsOk())

// Declares or assigns the value of a StatusOr expression, or fails the test.
#define ASSERT_OK_AND_ASSIGN(target, expression)                                             \
  CALLSLIP_ASSERT_OK_AND_ASSIGN(CALLSLIP_TEST_CONCAT(callslip_status_or_, __LINE__), target, \
                                expression)
#define CALLSLIP_TEST_CONCAT_INNER(a, b) a##b
#define CALLSLIP_TEST_CONCAT(a, b) CALLSLIP_TEST_CONCAT_INNER(a, b)
#define CALLSLIP_ASSERT_OK_AND_ASSIGN(temporary, target, expression) \
  auto temporary = (expression);                                     \
  ASSERT_OK(temporary);                                              \
  target = std::move(temporary).value()
