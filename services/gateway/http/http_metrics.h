#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_METRICS_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_METRICS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "common/clock.h"
#include "common/latency_histogram.h"
#include "common/log_limit.h"
#include "common/trace_context.h"
#include "gateway/http/responder.h"

namespace callslip::gateway {

// What the requests of each route have come to. Routes are named as they were added, with their
// {parameters}; whatever belongs to none is one route, `other`. Refused callers and errors of ours
// are logged, up to 20 lines of each kind a second, without anything that the caller has chosen:
// who was not let in as `audit`, and so what an administrator does without the tracker's knowing
// who it is. Not thread-safe.
class HttpMetrics {
 public:
  // Of a request whose peer did not wait for the answer: no fault of ours. Nginx calls it so.
  static constexpr int kPeerHasLeft = 499;

  struct Route {
    std::string method;
    std::string path;
    int64_t under_way = 0;
    std::map<int, int64_t> ended;  // By status, or kPeerHasLeft.
    LatencyHistogram latency;      // To the answer; of a stream, to its beginning.
  };

  // `clock` must outlive the metrics.
  explicit HttpMetrics(Clock* clock)
      : clock_(clock),
        audit_(clock, 20),
        allowed_(clock, 20),
        refusals_(clock, 20),
        failures_(clock, 20) {}

  // Lives as long as the metrics.
  Route* Add(const std::string& method, const std::string& path);
  Route* other() { return &other_; }

  // Counts the request from `address` that `responder` is to answer. Does nothing else to it.
  void Measure(Route* route, const std::string& address, Responder& responder);

  // `who` was let in as a worker, as which the tracker is told no names.
  void NoteAllowed(const Route& route, const Principal& who);

  // Those that were added, in their order.
  const std::deque<Route>& routes() const { return routes_; }
  const Route& others() const { return other_; }
  // Requests that were not let in (401, 403), by the code of their answer.
  const std::map<std::string, int64_t>& refused() const { return refused_; }

 private:
  void NoteRefusal(const Route& route, const std::string& address, const HttpResponse& response);
  void LogTrouble(const Route& route, int status, const TraceContext& span);

  Clock* const clock_;
  LogLimit audit_;
  LogLimit allowed_;
  LogLimit refusals_;
  LogLimit failures_;
  std::map<std::string, int64_t> refused_;
  std::deque<Route> routes_;
  Route other_{.method = "other", .path = "other"};
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_METRICS_H_
