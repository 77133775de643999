#include "gateway/http/failure_quota.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace callslip::gateway {

absl::Duration FailureQuota::WaitOf(const std::string& address) {
  const auto found = of_address_.find(address);
  if (found == of_address_.end()) return absl::ZeroDuration();
  const absl::Duration left = LeftOf(found->second);
  if (left == absl::ZeroDuration()) {
    of_address_.erase(found);
    return left;
  }
  if (found->second.times >= limits_.of_address) return left;
  return all_.times >= limits_.of_all ? LeftOf(all_) : absl::ZeroDuration();
}

void FailureQuota::CountFailed(const std::string& address) {
  if (of_address_.size() >= kMaxAddresses && !of_address_.contains(address)) {
    of_address_.erase(absl::c_min_element(
        of_address_, [](const auto& a, const auto& b) { return a.second.since < b.second.since; }));
  }
  Count(of_address_[address]);
  Count(all_);
}

void FailureQuota::Count(Failed& failed) {
  if (LeftOf(failed) == absl::ZeroDuration()) failed = {.since = clock_->Now(), .times = 0};
  ++failed.times;
}

absl::Duration FailureQuota::LeftOf(const Failed& failed) const {
  return std::max(failed.since + limits_.window - clock_->Now(), absl::ZeroDuration());
}

}  // namespace callslip::gateway
