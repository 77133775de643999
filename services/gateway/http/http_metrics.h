#pragma once

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

// Metrics of the requests by route. Routes have the names they were added with, including their
// {parameters}; requests to no route count as one route, `other`. Refused callers and server errors
// are logged, up to 20 lines of each kind per second, without anything that the caller chose.
// Refused callers are logged as `audit`, and so is what an administrator does without the tracker
// learning the administrator's name. Not thread-safe.
class HttpMetrics {
 public:
  // For a request whose peer did not wait for the response, which is not a server error. Nginx uses
  // the same number.
  static constexpr int kPeerHasLeft = 499;

  struct Route {
    std::string method;
    std::string path;
    int64_t under_way = 0;
    std::map<int, int64_t> ended;  // By status, or kPeerHasLeft.
    LatencyHistogram latency;      // To the response; of a stream, to its beginning.
  };

  // `clock` must outlive this.
  explicit HttpMetrics(Clock* clock)
      : clock_(clock),
        audit_(clock, 20),
        allowed_(clock, 20),
        refusals_(clock, 20),
        failures_(clock, 20) {}

  // Lives as long as this.
  Route* Add(const std::string& method, const std::string& path);
  Route* other() { return &other_; }

  // Counts the request from `address` that `responder` will answer. Has no other effect on it.
  void Measure(Route* route, const std::string& address, Responder& responder);

  // Logs that `who` was accepted on a worker route, where the tracker learns no names.
  void NoteAllowed(const Route& route, const Principal& who);

  // The routes that were added, in order.
  const std::deque<Route>& routes() const { return routes_; }
  const Route& others() const { return other_; }
  // Requests that were refused (401, 403), by the error code of the response.
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
