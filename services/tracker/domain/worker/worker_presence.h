#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace callslip::tracker {

// When one worker was last seen. Thread-safe; costs an atomic store, for calls that must not take a
// lock.
class WorkerPresence {
 public:
  void Seen(absl::Time now) { last_seen_nanos_ = absl::ToUnixNanos(now); }
  absl::Time last_seen() const { return absl::FromUnixNanos(last_seen_nanos_); }

  // A lasting call begins. Call Left() once for each call of this.
  void Stays() { ++staying_; }
  void Left(absl::Time now) {
    Seen(now);
    --staying_;
  }
  bool is_staying() const { return staying_ > 0; }

 private:
  std::atomic<int64_t> last_seen_nanos_{std::numeric_limits<int64_t>::min()};
  std::atomic<int> staying_{0};
};

}  // namespace callslip::tracker
