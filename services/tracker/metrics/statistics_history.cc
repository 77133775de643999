#include "tracker/metrics/statistics_history.h"

#include <utility>

namespace callslip::tracker {
namespace {

using Counts = std::array<int64_t, kEndCodes.size()>;

Counts FailedOf(const CommandStatistics& commands) {
  Counts failed{};
  for (const CommandState state :
       {CommandState::kFailed, CommandState::kTimedOut, CommandState::kExpired}) {
    for (size_t code = 0; code < failed.size(); ++code) {
      failed[code] += commands.ended[static_cast<size_t>(state)][code];
    }
  }
  return failed;
}

std::optional<StatisticsHistory::Quantiles> QuantilesOf(const LatencyHistogram& latencies) {
  if (latencies.count() == 0) return std::nullopt;
  return StatisticsHistory::Quantiles{.p50 = absl::Nanoseconds(NanosAt(latencies, 0.5)),
                                      .p95 = absl::Nanoseconds(NanosAt(latencies, 0.95))};
}

}  // namespace

void StatisticsHistory::Note(absl::Time now, const CommandStatistics& commands,
                             const Sessions& sessions) {
  const int64_t completed = commands.EndedAs(CommandState::kCompleted);
  const Counts failed = FailedOf(commands);
  MutexLock lock(&mutex_);
  Sample sample{.end = now,
                .length = now - end_,
                .registered = commands.registered - registered_,
                .completed = completed - completed_,
                .dispatch = QuantilesOf(commands.dispatch.Since(dispatch_)),
                .standard = QuantilesOf(commands.standard.Since(standard_)),
                .queued = commands.queued,
                .sessions = sessions};
  for (size_t code = 0; code < failed.size(); ++code) {
    sample.failed[code] = failed[code] - failed_[code];
  }
  if (samples_.size() == kSamples) samples_.pop_front();
  samples_.push_back(std::move(sample));
  end_ = now;
  registered_ = commands.registered;
  completed_ = completed;
  failed_ = failed;
  dispatch_ = commands.dispatch;
  standard_ = commands.standard;
}

std::vector<StatisticsHistory::Sample> StatisticsHistory::Read() const {
  MutexLock lock(&mutex_);
  return {samples_.begin(), samples_.end()};
}

}  // namespace callslip::tracker
