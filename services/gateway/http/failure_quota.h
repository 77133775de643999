#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace callslip::gateway {

// Limits how often something may fail for one address before that address must wait, and for all
// addresses together before every address with a failure must wait. Not thread-safe.
class FailureQuota {
 public:
  struct Limits {
    int of_address;
    int of_all;
    absl::Duration window;  // The time in which failures count, from the first one on.
  };
  // Addresses to remember, some 100 bytes each. When full, the oldest is forgotten.
  static constexpr size_t kMaxAddresses = 10'000;

  FailureQuota(Clock* clock, const Limits& limits) : clock_(clock), limits_(limits) {}

  // How long a caller at `address`, an AddressKey(), must wait; zero if it need not wait.
  absl::Duration WaitOf(const std::string& address);
  void CountFailed(const std::string& address);

 private:
  struct Failed {
    absl::Time since = absl::InfinitePast();
    int times = 0;
  };

  void Count(Failed& failed);
  absl::Duration LeftOf(const Failed& failed) const;

  Clock* const clock_;
  const Limits limits_;
  Failed all_;
  absl::flat_hash_map<std::string, Failed> of_address_;
};

}  // namespace callslip::gateway
