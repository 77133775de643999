#include "gateway/web/ended_logins.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace callslip::gateway {

void EndedLogins::Add(const std::string& account, const std::string& id, absl::Time end,
                      absl::Time now) {
  if (count_ >= kMaxLogins) DropOver(now);
  if (count_ >= kMaxLogins) ForgetOne();
  if (accounts_[account].logins.emplace(id, end).second) ++count_;
}

bool EndedLogins::Contains(const std::string& account, const std::string& id,
                           absl::Time end) const {
  const auto found = accounts_.find(account);
  if (found == accounts_.end()) return false;
  return end <= found->second.all_until || found->second.logins.contains(id);
}

void EndedLogins::DropOver(absl::Time now) {
  absl::erase_if(accounts_, [&](auto& account) {
    OfAccount& of = account.second;
    count_ -= absl::erase_if(of.logins, [&](const auto& each) { return each.second <= now; });
    return of.logins.empty() && of.all_until <= now;
  });
}

void EndedLogins::ForgetOne() {
  OfAccount& most = absl::c_max_element(accounts_, [](const auto& a, const auto& b) {
                      return a.second.logins.size() < b.second.logins.size();
                    })->second;
  const auto oldest = absl::c_min_element(
      most.logins, [](const auto& a, const auto& b) { return a.second < b.second; });
  most.all_until = std::max(most.all_until, oldest->second);
  most.logins.erase(oldest);
  --count_;
}

}  // namespace callslip::gateway
