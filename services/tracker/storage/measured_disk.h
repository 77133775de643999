#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/latency_histogram.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// The operations requested from a disk, and their outcomes.
struct StorageStatistics {
  int64_t written_bytes = 0;
  LatencyHistogram syncs;  // Of files and of folders.
  int64_t failures = 0;    // Of steps of any kind.
  absl::Time last_failure = absl::InfinitePast();
};

// A disk whose operations are counted and timed. Thread-safe.
class MeasuredDisk final : public Disk {
 public:
  // `clock` must outlive this.
  explicit MeasuredDisk(Clock* clock) : clock_(clock) {}

  StorageStatistics Statistics() const;

 protected:
  absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) override;

 private:
  Clock* const clock_;
  std::atomic<int64_t> written_bytes_{0};
  SharedLatencyHistogram syncs_;
  std::atomic<int64_t> failures_{0};
  std::atomic<int64_t> last_failure_nanos_{0};
};

}  // namespace callslip::tracker
