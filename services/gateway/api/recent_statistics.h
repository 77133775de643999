#pragma once

#include <cstdint>
#include <deque>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "common/latency_histogram.h"
#include "gateway/json/parse.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// The tracker's current statistics for clients that poll once a second: one request serves all of
// them. Used on the executor.
class RecentStatistics {
 public:
  // Latencies cover this window, or less if reads began more recently.
  static constexpr absl::Duration kWindow = absl::Minutes(1);
  // A result younger than this is returned again.
  static constexpr absl::Duration kFresh = absl::Milliseconds(900);

  // Both must outlive this.
  RecentStatistics(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}

  // In the format of GET /api/stats/ws: docs/http.md. Totals count from the tracker's start.
  boost::asio::awaitable<absl::StatusOr<Json>> Read();

 private:
  // The counters at one moment.
  struct Sample {
    absl::Time time;
    int64_t registered = 0;
    LatencyHistogram dispatch;
    LatencyHistogram journal;
  };

  Json Note(const v1::GetHealthResponse& health);

  TrackerClient* const tracker_;
  Clock* const clock_;
  std::deque<Sample> samples_;  // Oldest first.
  Json latest_;                 // From the last sample.
};

}  // namespace callslip::gateway
