#pragma once

#include <memory>

#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/api/recent_mcp_clients.h"
#include "gateway/api/recent_statistics.h"
#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/http/web_socket.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// The MCP clients, the targets with their workers, and the health of the system. Reference:
// docs/http.md, "Targets, workers, health".
class OperationsApi {
 public:
  // All must outlive this.
  OperationsApi(TrackerClient* tracker, Clock* clock, const RecentMcpClients* clients)
      : tracker_(tracker),
        clock_(clock),
        clients_(clients),
        started_(clock->Now()),
        recent_(std::make_shared<RecentStatistics>(tracker, clock)) {}

  // `this` must outlive the router.
  void AddRoutes(Router& router) const;

 private:
  using Request = std::shared_ptr<const HttpRequest>;
  using Answer = boost::asio::awaitable<HttpResponse>;

  Answer ListTargets(Request request) const;
  Answer ListWorkers(Request request) const;
  Answer ListWorkerLog(Request request) const;
  Answer GetHealth() const;
  Answer GetHistory() const;
  HttpResponse ListMcpClients(const HttpRequest& request) const;
  boost::asio::awaitable<void> ServeStatistics(std::shared_ptr<WebSocket> socket) const;

  TrackerClient* const tracker_;
  Clock* const clock_;
  const RecentMcpClients* const clients_;
  const absl::Time started_;
  const std::shared_ptr<RecentStatistics> recent_;
};

}  // namespace callslip::gateway
