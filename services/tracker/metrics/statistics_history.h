#ifndef CALLSLIP_TRACKER_METRICS_STATISTICS_HISTORY_H_
#define CALLSLIP_TRACKER_METRICS_STATISTICS_HISTORY_H_

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
#include "tracker/domain/queue/command_tally.h"

namespace callslip::tracker {

// How a tracker did lately, in samples of some seconds each: what AdminService tells of the last 15
// minutes. Begins anew with the process. Thread-safe.
class StatisticsHistory {
 public:
  // How often Note() is to be called, and how many samples are kept: 15 minutes.
  static constexpr absl::Duration kEvery = absl::Seconds(10);
  static constexpr size_t kSamples = 90;
  // What all samples take of memory at most. A part of the process's own share of the budget.
  static constexpr size_t kMaxBytes = size_t{32} << 10;

  struct Sessions {
    int64_t active = 0;   // Have not ended.
    int64_t in_turn = 0;  // Their agents are in a turn.
  };

  // How long some took, of one sample.
  struct Quantiles {
    absl::Duration p50;
    absl::Duration p95;
  };

  // One stretch of time.
  struct Sample {
    absl::Time end;
    absl::Duration length;
    // In it.
    int64_t registered = 0;
    int64_t completed = 0;
    // Neither completed nor cancelled, by the place of the code in kEndCodes, so that there are few
    // causes whatever workers tell.
    std::array<int64_t, kEndCodes.size()> failed{};
    // Until the first delivery and until the end, as CommandStatistics has them; none where nothing
    // was delivered, or ended.
    std::optional<Quantiles> dispatch;
    std::optional<Quantiles> standard;
    // At its end.
    int64_t queued = 0;
    Sessions sessions;
  };

  // Nothing has been counted at `start`.
  explicit StatisticsHistory(absl::Time start) : end_(start) {}

  // What there is at `now`. The sample is the difference to the call before.
  void Note(absl::Time now, const CommandStatistics& commands, const Sessions& sessions);

  // The oldest first.
  std::vector<Sample> Read() const;

 private:
  using Failed = std::array<int64_t, kEndCodes.size()>;

  mutable Mutex mutex_;
  std::deque<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  // What the last sample was made of.
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

#endif  // CALLSLIP_TRACKER_METRICS_STATISTICS_HISTORY_H_
