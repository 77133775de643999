#include "gateway/web/login_quota.h"

#include <utility>

#include "common/error_details.h"

namespace callslip::gateway {
namespace {

absl::Status TooMany(absl::string_view message, absl::Duration retry_after) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted, message,
      {.reason = "too_many_logins", .hint = "Try again in a moment.", .retry_after = retry_after});
}

}  // namespace

absl::StatusOr<std::shared_ptr<void>> LoginQuota::Take(const std::string& address) {
  const absl::Duration wait = failed_.WaitOf(address);
  if (wait > absl::ZeroDuration()) {
    return TooMany("Too many logins from your address have failed.", wait);
  }
  using Places = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  const auto places = std::make_shared<Places>(waiting_.Take(address), nullptr);
  if (places->first != nullptr) places->second = all_.Take("");
  if (places->second == nullptr) {
    return TooMany("Too many people log in just now.", absl::Seconds(5));
  }
  return places;
}

}  // namespace callslip::gateway
