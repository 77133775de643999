#pragma once

#include "absl/status/status.h"
#include "common/error_details.h"

namespace callslip::gateway {

// The refusal of a token: UNAUTHENTICATED. `reason` is a word for programs, `message` a sentence
// for people. The message is sent in a header, so it must be a literal and must never quote the
// token.
inline absl::Status TokenRefused(const char* reason, const char* message) {
  return ErrorWithDetails(absl::StatusCode::kUnauthenticated, message, {.reason = reason});
}

}  // namespace callslip::gateway
