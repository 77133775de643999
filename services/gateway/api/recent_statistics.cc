#include "gateway/api/recent_statistics.h"

#include <algorithm>
#include <utility>

#include "gateway/json/command_json.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

// Empty if the tracker uses other buckets.
LatencyHistogram HistogramOf(const google::protobuf::RepeatedField<int64_t>& counts) {
  LatencyHistogram histogram;
  if (static_cast<size_t>(counts.size()) != LatencyHistogram::kBuckets) return histogram;
  std::copy(counts.begin(), counts.end(), histogram.counts.begin());
  return histogram;
}

}  // namespace

boost::asio::awaitable<absl::StatusOr<Json>> RecentStatistics::Read() {
  if (!samples_.empty() && clock_->Now() - samples_.back().time < kFresh) co_return latest_;
  const auto health =
      co_await tracker_->Call(v1::GetHealthRequest(), {.deadline = kReadinessDeadline});
  if (!health.ok()) co_return health.status();
  latest_ = Note(*health);
  co_return latest_;
}

Json RecentStatistics::Note(const v1::GetHealthResponse& health) {
  Sample now{.time = clock_->Now(),
             .registered = health.registered(),
             .dispatch = HistogramOf(health.dispatch_counts()),
             .journal = HistogramOf(health.journal_counts())};
  // A restarted tracker counts from zero.
  if (!samples_.empty() && samples_.back().registered > now.registered) samples_.clear();
  while (!samples_.empty() && now.time - samples_.front().time > kWindow) samples_.pop_front();

  Json stats = {{"queued", health.queued()},
                {"registered", health.registered()},
                {"completed", health.completed()},
                {"failed", health.failed()},
                {"payload_bytes", health.payload_bytes()}};
  if (health.has_oldest_queued()) {
    stats["oldest_ms"] = absl::ToInt64Milliseconds(DurationOf(health.oldest_queued()));
  }
  if (!samples_.empty()) {
    const auto add = [&stats](const char* name, const LatencyHistogram& recent, double part) {
      if (recent.count() > 0) stats[name] = NanosAt(recent, part) / 1e6;
    };
    const LatencyHistogram dispatch = now.dispatch.Since(samples_.front().dispatch);
    add("dispatch_p50_ms", dispatch, 0.5);
    add("dispatch_p99_ms", dispatch, 0.99);
    add("journal_p99_ms", now.journal.Since(samples_.front().journal), 0.99);
  }
  samples_.push_back(std::move(now));
  return stats;
}

}  // namespace callslip::gateway
