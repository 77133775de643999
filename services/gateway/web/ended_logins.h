#ifndef CALLSLIP_GATEWAY_WEB_ENDED_LOGINS_H_
#define CALLSLIP_GATEWAY_WEB_ENDED_LOGINS_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace callslip::gateway {

// The logins that people have ended before their time, until they would have ended. Of too many,
// the oldest login of whoever has ended most is forgotten, with all logins of that account that are
// as old: they are over, whether or not somebody has ended them. So nobody brings back those of
// others.
class EndedLogins {
 public:
  // Some hundred bytes each.
  static constexpr size_t kMaxLogins = 10'000;

  // `end`: when it would have ended. `now` is of the same clock.
  void Add(const std::string& account, const std::string& id, absl::Time end, absl::Time now);
  bool Contains(const std::string& account, const std::string& id, absl::Time end) const;

 private:
  struct OfAccount {
    absl::flat_hash_map<std::string, absl::Time> logins;  // When each would have ended.
    absl::Time all_until = absl::InfinitePast();          // Those that end until then, too.
  };

  void DropOver(absl::Time now);
  void ForgetOne();

  absl::flat_hash_map<std::string, OfAccount> accounts_;
  size_t count_ = 0;  // Of logins.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_ENDED_LOGINS_H_
