#pragma once

#include <memory>

#include "common/metrics.h"
#include "gateway/http/byte_budget.h"
#include "gateway/http/http_message.h"
#include "gateway/http/http_metrics.h"
#include "gateway/http/http_server.h"
#include "gateway/mcp/protocol/call_metrics.h"
#include "gateway/memory_budget.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// The sources of GET /metrics. All of them live on the gateway's thread.
struct MetricsSource {
  const HttpMetrics* requests;
  const HttpServer* server;
  const CallMetrics* calls;
  TrackerClient* tracker;
  const ByteBudget* updates;  // Updates waiting for observers.
  MemoryBudget memory;
};

// The gateway's own metrics; docs/operations.md lists them. The tracker has its own.
void AddMetrics(const MetricsSource& source, MetricsPage& page);

// GET /metrics: these metrics, in the text format that `request` asks for.
boost::asio::awaitable<HttpResponse> HandleMetrics(MetricsSource source,
                                                   std::shared_ptr<const HttpRequest> request);

}  // namespace callslip::gateway
