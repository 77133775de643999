#include "gateway/metrics_handler.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/metrics_text.h"
#include "telemetry/span_metrics.h"

namespace callslip::gateway {
namespace {

double AsDouble(int64_t number) { return static_cast<double>(number); }

MetricLabels LabelsOf(const HttpMetrics::Route& route) {
  return {{"method", route.method}, {"route", route.path}};
}

void AddRequests(const HttpMetrics& requests, MetricsPage& page) {
  std::vector<const HttpMetrics::Route*> routes = {&requests.others()};
  for (const HttpMetrics::Route& route : requests.routes()) routes.push_back(&route);
  for (const HttpMetrics::Route* route : routes) {
    for (const auto& [status, ended] : route->ended) {
      MetricLabels labels = LabelsOf(*route);
      labels.emplace_back("code", absl::StrCat(status));
      page.Counter(
          "callslip_http_requests_total",
          "Answered requests, by route and status. Requests that a filter refused, or without a "
          "route: other.",
          AsDouble(ended), labels);
    }
  }
  for (const auto& [reason, count] : requests.refused()) {
    page.Counter("callslip_refusals_total", "Requests that were not let in, by reason.",
                 AsDouble(count), {{"reason", reason}});
  }
  for (const HttpMetrics::Route* route : routes) {
    page.Gauge("callslip_http_requests_under_way", "Requests that are not answered yet.",
               AsDouble(route->under_way), LabelsOf(*route));
  }
  for (const HttpMetrics::Route* route : routes) {
    if (route->latency.count() == 0) continue;
    page.Histogram("callslip_http_seconds",
                   "From a request's arrival to its answer; held ones include their waiting.",
                   route->latency, LabelsOf(*route));
  }
}

void AddMemory(const MetricsSource& source, MetricsPage& page) {
  const MemoryBudget& budget = source.memory;
  const HttpServer& server = *source.server;
  for (const auto& [table, bytes] : budget.Shares()) {
    page.Gauge("callslip_memory_limit_bytes", "Memory limit of a table.", AsDouble(bytes),
               {{"table", table}});
  }
  for (const auto& [table, bytes] :
       {std::pair("bodies", kCopiesOfBodies * server.body_bytes()),
        std::pair("updates", static_cast<int64_t>(source.updates->taken())),
        std::pair("unsent", kCopiesOfAnswers * server.unsent_bytes())}) {
    page.Gauge("callslip_memory_used_bytes", "Memory that a table uses, where it is counted.",
               AsDouble(bytes), {{"table", table}});
  }
  page.Gauge("callslip_memory_bytes", "Memory limit of the process (--memory).",
             AsDouble(budget.bytes));
}

}  // namespace

void AddMetrics(const MetricsSource& source, MetricsPage& page) {
  page.Process();
  AddRequests(*source.requests, page);
  page.Gauge("callslip_http_connections", "Open connections, without WebSockets.",
             AsDouble(source.server->connections()));
  page.Gauge("callslip_web_sockets", "Open WebSockets.", AsDouble(source.server->web_sockets()));
  for (const auto& [call, count] : source.calls->calls()) {
    page.Counter("callslip_mcp_calls_total", "Calls of tools that were answered, by how they went.",
                 AsDouble(count), {{"tool", call.first}, {"status", call.second}});
  }
  const TrackerClientStatistics tracker = source.tracker->Statistics();
  page.Gauge("callslip_tracker_connected", "Whether there is a connection to the tracker.",
             tracker.connected ? 1 : 0);
  page.Gauge("callslip_waits", "Waits for commands under way.", AsDouble(tracker.waits));
  page.Histogram("callslip_wait_seconds", "How long waits for commands lasted.", tracker.waited);
  AddMemory(source, page);
  AddSpans(page);
}

boost::asio::awaitable<HttpResponse> HandleMetrics(MetricsSource source,
                                                   std::shared_ptr<const HttpRequest> request) {
  MetricsPage page;
  AddMetrics(source, page);
  MetricsAnswer answer = AnswerScrape(page, request->Header("accept"));
  HttpResponse response{.body = std::move(answer.body), .content_type = answer.content_type};
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

}  // namespace callslip::gateway
