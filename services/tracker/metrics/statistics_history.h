#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/latency_histogram.h"
#include "common/mutex.h"
#include "tracker/domain/queue/command_counters.h"

namespace callslip::tracker {

// Recent statistics of a tracker, in samples of a few seconds: the last 15 minutes, for
// AdminService. Starts empty with the process. Thread-safe.
class StatisticsHistory {
 public:
  // How often Note() must be called, and how many samples are kept: 15 minutes.
  static constexpr absl::Duration kEvery = absl::Seconds(10);
  static constexpr size_t kSamples = 90;
  // The maximum memory of all samples. Part of the process's own share of the budget.
  static constexpr size_t kMaxBytes = size_t{32} << 10;

  struct Sessions {
    int64_t active = 0;   // Not ended.
    int64_t in_turn = 0;  // Their agents are in a turn.
  };

  // Latencies in one sample.
  struct Quantiles {
    absl::Duration p50;
    absl::Duration p95;
  };

  // One interval.
  struct Sample {
    absl::Time end;
    absl::Duration length;
    // During the interval.
    int64_t registered = 0;
    int64_t completed = 0;
    // Neither completed nor cancelled, by index of the code in kEndCodes. This bounds the number of
    // codes, whatever workers report.
    std::array<int64_t, kEndCodes.size()> failed{};
    // Until the first delivery and until the end, as in CommandStatistics; nullopt if nothing was
    // delivered, or ended.
    std::optional<Quantiles> dispatch;
    std::optional<Quantiles> standard;
    // At the end of the interval.
    int64_t queued = 0;
    Sessions sessions;
  };

  // All counters are 0 at `start`.
  explicit StatisticsHistory(absl::Time start) : end_(start) {}

  // Adds a sample: the difference between the statistics at `now` and those of the previous call.
  void Note(absl::Time now, const CommandStatistics& commands, const Sessions& sessions);

  // Oldest first.
  std::vector<Sample> Read() const;

 private:
  using Failed = std::array<int64_t, kEndCodes.size()>;

  mutable Mutex mutex_;
  std::deque<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  // The values at the end of the last sample.
  absl::Time end_ ABSL_GUARDED_BY(mutex_);
  int64_t registered_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t completed_ ABSL_GUARDED_BY(mutex_) = 0;
  Failed failed_ ABSL_GUARDED_BY(mutex_){};
  LatencyHistogram dispatch_ ABSL_GUARDED_BY(mutex_);
  LatencyHistogram standard_ ABSL_GUARDED_BY(mutex_);
};

static_assert(StatisticsHistory::kSamples * sizeof(StatisticsHistory::Sample) <=
              StatisticsHistory::kMaxBytes);

}  // namespace callslip::tracker
