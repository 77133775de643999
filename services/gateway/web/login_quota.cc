#include "gateway/web/login_quota.h"

#include <utility>

#include "absl/algorithm/container.h"
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
  const auto failed = failed_.find(address);
  if (failed != failed_.end()) {
    const absl::Duration left = failed->second.since + kWindow - clock_->Now();
    if (left <= absl::ZeroDuration()) {
      failed_.erase(failed);
    } else if (failed->second.codes >= kMostFailedOfAddress) {
      return TooMany("Too many logins from your address have failed.", left);
    }
  }
  using Places = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  const auto places = std::make_shared<Places>(waiting_.Take(address), nullptr);
  if (places->first != nullptr) places->second = all_.Take("");
  if (places->second == nullptr) {
    return TooMany("Too many people log in just now.", absl::Seconds(5));
  }
  return places;
}

void LoginQuota::CountFailed(const std::string& address) {
  const absl::Time now = clock_->Now();
  if (failed_.size() >= kMaxAddresses && !failed_.contains(address)) {
    failed_.erase(absl::c_min_element(
        failed_, [](const auto& a, const auto& b) { return a.second.since < b.second.since; }));
  }
  Failed& failed = failed_.try_emplace(address, Failed{.since = now}).first->second;
  if (now >= failed.since + kWindow) failed = {.since = now};
  ++failed.codes;
}

}  // namespace callslip::gateway
