#ifndef CALLSLIP_GATEWAY_API_RECENT_STATISTICS_H_
#define CALLSLIP_GATEWAY_API_RECENT_STATISTICS_H_

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

// How the tracker does just now, for those who look once a second: it is asked once for all of
// them. Used on the executor.
class RecentStatistics {
 public:
  // Latencies are those of this time, as far as somebody has looked for so long.
  static constexpr absl::Duration kWindow = absl::Minutes(1);
  // What was asked for less than this ago is told again.
  static constexpr absl::Duration kFresh = absl::Milliseconds(900);

  // Both must outlive this.
  RecentStatistics(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}

  // As GET /api/stats/ws tells it: docs/http.md. Totals are those since the tracker's start.
  boost::asio::awaitable<absl::StatusOr<Json>> Read();

 private:
  // What there was at one moment.
  struct Sample {
    absl::Time time;
    int64_t registered = 0;
    LatencyHistogram dispatch;
    LatencyHistogram journal;
  };

  Json Note(const v1::GetHealthResponse& health);

  TrackerClient* const tracker_;
  Clock* const clock_;
  std::deque<Sample> samples_;  // The oldest first.
  Json latest_;                 // Of the last one.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_RECENT_STATISTICS_H_
