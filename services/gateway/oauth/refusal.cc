#include "gateway/oauth/refusal.h"

#include "common/error_details.h"

namespace callslip::gateway {

absl::Status TokenRefused(const char* reason, const char* message) {
  return ErrorWithDetails(absl::StatusCode::kUnauthenticated, message, {.reason = reason});
}

bool IsRefusedFor(const absl::Status& status, absl::string_view reason) {
  return absl::IsUnauthenticated(status) && DetailsOf(status).reason == reason;
}

}  // namespace callslip::gateway
