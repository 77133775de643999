#pragma once

#include <atomic>
#include <cstdint>

namespace callslip::tracker {

// Number of commands and bytes of payload, of one client or of all. Both are parts of one number,
// because every change of a command changes both: one atomic addition instead of two. Thread-safe.
// Holds up to 8 million commands and a TiB, far beyond CommandLimits.
class Usage {
 public:
  void Add(int64_t commands, int64_t bytes) { both_ += commands * kCommand + bytes; }

  int64_t commands() const { return both_ / kCommand; }
  int64_t bytes() const { return both_ % kCommand; }

 private:
  static constexpr int64_t kCommand = int64_t{1} << 40;

  std::atomic<int64_t> both_{0};
};

}  // namespace callslip::tracker
