#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace callslip::gateway {

// The logins that users have ended early, kept until they would have expired. When full, the
// account with the most ended logins forgets the oldest of them, and from then on all of its logins
// that are as old count as ended, whether a user ended them or not. So no user can bring back
// logins of others.
class EndedLogins {
 public:
  // Some hundred bytes each.
  static constexpr size_t kMaxLogins = 10'000;

  // `end`: when the login would have expired. `now` is of the same clock.
  void Add(const std::string& account, const std::string& id, absl::Time end, absl::Time now);
  bool Contains(const std::string& account, const std::string& id, absl::Time end) const;

 private:
  struct OfAccount {
    absl::flat_hash_map<std::string, absl::Time> logins;  // When each would have expired.
    absl::Time all_until = absl::InfinitePast();  // Logins that expire until then have ended, too.
  };

  void DropOver(absl::Time now);
  void ForgetOne();

  absl::flat_hash_map<std::string, OfAccount> accounts_;
  size_t count_ = 0;  // Number of logins.
};

}  // namespace callslip::gateway
