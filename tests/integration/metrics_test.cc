// The operator's view: GET /metrics of gateway and tracker, observe health, and the trace from HTTP
// to the extension.
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/metrics_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/prometheus_text.h"
#include "support/raw_connection.h"
#include "support/test_services.h"
#include "tracker/metrics/tracker_metrics.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::MatchesRegex;

constexpr char kCallTraceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class MetricsTest : public testing::Test {
 protected:
  httplib::Result Get(const TestServices& services, const std::string& path,
                      const httplib::Headers& headers = {}) {
    httplib::Client client(services.gateway_address().host, services.gateway_address().port);
    return client.Get(path, headers);
  }
  PrometheusText Scrape(const TestServices& services, const httplib::Headers& headers = {}) {
    const auto answer = Get(services, "/metrics", headers);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    PrometheusText read(answer->body);
    EXPECT_EQ(read.problems(), "");
    return read;
  }
  // `requests` includes the scrape itself.
  void AwaitUnderWay(const TestServices& services, int requests) {
    while (Scrape(services).Sum("callslip_http_requests_under_way") != requests) {
      std::this_thread::yield();
    }
  }
  PrometheusText ScrapeTracker(TestServices& services) {
    MetricsPage page;
    tracker::AddMetrics(services.tracker().Statistics(), page);
    PrometheusText read(PlainMetricsText(page));
    EXPECT_EQ(read.problems(), "");
    return read;
  }
  // In a session of its own.
  static json Interact(const TestServices& services, const std::map<std::string, std::string>& more,
                       const json& meta = json()) {
    json params = {{"name", "interact"},
                   {"arguments", {{"action", "execute_js"}, {"script", "1"}}}};
    if (!meta.is_null()) params["_meta"] = meta;
    const json request = {
        {"jsonrpc", "2.0"}, {"id", 77}, {"method", "tools/call"}, {"params", params}};
    std::map<std::string, std::string> headers = more;
    headers["Mcp-Session-Id"] = services.session_id();
    return services.Post("/mcp", request.dump(), headers).body["result"]["structuredContent"];
  }
};

TEST_F(MetricsTest, GatewayCountsRequestsAndCalls) {
  TestServices services;
  (void)services.ToolAnswer("observe", {{"what", "pending_commands"}});
  (void)services.ToolAnswer("observe", {{"what", "command_result"}, {"correlation_id", "none"}});
  (void)services.Get("/nowhere");
  (void)services.Get("/pending-queries");

  const PrometheusText read = Scrape(services);
  EXPECT_EQ(read.Sum("callslip_mcp_calls_total", {{"tool", "observe"}, {"status", "ok"}}), 1);
  EXPECT_EQ(read.Sum("callslip_mcp_calls_total", {{"tool", "observe"}, {"status", "error"}}), 1);
  // Including the session's initialize.
  EXPECT_EQ(read.Sum("callslip_http_requests_total", {{"route", "/mcp"}, {"code", "200"}}), 3);
  EXPECT_EQ(read.Sum("callslip_http_requests_total", {{"route", "other"}, {"code", "404"}}), 1);
  EXPECT_EQ(
      read.Sum("callslip_http_requests_total", {{"route", "/pending-queries"}, {"code", "200"}}),
      1);
  EXPECT_EQ(read.Sum("callslip_http_seconds_count", {{"route", "/mcp"}}), 3);
  // This one.
  EXPECT_EQ(read.Sum("callslip_http_requests_under_way"), 1);
  // At least this one; the close of an earlier one may not be processed yet.
  EXPECT_GE(read.Sum("callslip_http_connections"), 1);
  EXPECT_EQ(read.Sum("callslip_tracker_connected"), 1);
  EXPECT_EQ(read.Sum("callslip_build_info"), 1);
}

TEST_F(MetricsTest, CallsOfUnknownToolsShareOneSeries) {
  TestServices services;
  for (const char* tool : {"x", "y", "z"}) (void)services.CallTool(tool, json::object());
  EXPECT_EQ(Scrape(services).Sum("callslip_mcp_calls_total",
                                 {{"tool", "unknown"}, {"status", "refused"}}),
            3);
}

TEST_F(MetricsTest, WaitsAreCountedWhileOpenAndTimedAfterwards) {
  TestServices services;
  const json queued = Interact(services, {});
  std::thread waiter([&] {
    (void)services.ToolAnswer("observe", {{"what", "command_result"},
                                          {"correlation_id", queued["correlation_id"]},
                                          {"wait_ms", 30000}});
  });
  services.AwaitWaits(1);
  EXPECT_EQ(Scrape(services).Sum("callslip_waits"), 1);
  EXPECT_EQ(ScrapeTracker(services).Sum("callslip_waits"), 1);
  (void)services.ToolAnswer("interact",
                            {{"action", "cancel"}, {"correlation_id", queued["correlation_id"]}});
  waiter.join();
  const PrometheusText read = Scrape(services);
  EXPECT_EQ(read.Sum("callslip_waits"), 0);
  EXPECT_EQ(read.Sum("callslip_wait_seconds_count"), 1);
}

TEST_F(MetricsTest, MetricsAreServedToViewersButNotToClients) {
  const std::string viewer(64, 'a');
  const std::string client(64, 'b');
  TokenFile tokens{
      .entries = {{.principal = {.name = "grafana", .role = Role::kViewer}, .token = viewer},
                  {.principal = {.name = "agent", .role = Role::kClient}, .token = client}},
      .session_key = "key"};
  TestServices services({}, tokens);
  EXPECT_EQ(Get(services, "/metrics")->status, 401);
  EXPECT_EQ(Get(services, "/metrics", {{"Authorization", "Bearer " + client}})->status, 403);
  const PrometheusText read = Scrape(services, {{"Authorization", "Bearer " + viewer}});
  EXPECT_EQ(read.Sum("callslip_http_requests_total", {{"route", "/metrics"}, {"code", "401"}}), 1);
  EXPECT_EQ(read.Sum("callslip_http_requests_total", {{"route", "/metrics"}, {"code", "403"}}), 1);
}

TEST_F(MetricsTest, DisconnectBeforeAnswerIsNotCountedAsFailure) {
  TestServices services;
  {
    gateway::RawConnection worker(services.gateway_address().port);
    worker.Send(absl::StrCat("GET /pending-queries?wait=5 HTTP/1.1\r\nHost: ",
                             services.gateway_address().ToString(), "\r\n\r\n"));
    AwaitUnderWay(services, 2);
  }
  AwaitUnderWay(services, 1);
  const PrometheusText read = Scrape(services);
  const auto polls = [&](const std::string& code) {
    return read.Sum("callslip_http_requests_total",
                    {{"route", "/pending-queries"}, {"code", code}});
  };
  EXPECT_EQ(polls("499"), 1);
  EXPECT_EQ(polls("503"), 0);
}

TEST_F(MetricsTest, ForeignHostIsRefusedAndCounted) {
  TestServices services;
  EXPECT_EQ(Get(services, "/metrics", {{"Host", "evil.example"}})->status, 403);
  EXPECT_EQ(
      Scrape(services).Sum("callslip_http_requests_total", {{"route", "other"}, {"code", "403"}}),
      1);
}

// Traces.

TEST_F(MetricsTest, TracePassesFromRequestToExtension) {
  TestServices services;
  (void)Interact(services, {{"traceparent", kCallTraceparent}});
  const json queries = services.Get("/pending-queries").body;
  ASSERT_EQ(queries.size(), 1u);
  EXPECT_EQ(queries[0]["traceparent"], kCallTraceparent);
}

TEST_F(MetricsTest, TraceOfMessageOverridesTraceOfRequest) {
  TestServices services;
  const std::string other = "00-11111111111111111111111111111111-2222222222222222-00";
  (void)Interact(services, {{"traceparent", kCallTraceparent}}, {{"traceparent", other}});
  EXPECT_EQ(services.Get("/pending-queries").body[0]["traceparent"], other);
}

TEST_F(MetricsTest, MalformedTraceIsReplacedByNewOne) {
  TestServices services;
  for (const char* wrong : {"", "00-zz-11-00", "<script>"}) {
    (void)Interact(services, {{"traceparent", wrong}}, {{"traceparent", 7}});
    const json queries = services.Get("/pending-queries").body;
    ASSERT_EQ(queries.size(), 1u);
    EXPECT_THAT(queries[0]["traceparent"].get<std::string>(),
                MatchesRegex("00-[0-9a-f]{32}-[0-9a-f]{16}-00"));
  }
}

TEST_F(MetricsTest, TracestateAndBaggageArePassedOn) {
  TestServices services;
  const auto polled = [&] { return services.Get("/pending-queries").body[0]; };
  const std::map<std::string, std::string> http = {
      {"traceparent", kCallTraceparent}, {"tracestate", "http=1"}, {"baggage", "of=http"}};
  (void)Interact(services, http);
  json query = polled();
  EXPECT_EQ(query["tracestate"], "http=1");
  EXPECT_EQ(query["baggage"], "of=http");

  const std::string other = "00-11111111111111111111111111111111-2222222222222222-00";
  const json meta = {{"traceparent", other}, {"tracestate", "meta=1"}, {"baggage", "of=meta"}};
  (void)Interact(services, http, meta);
  query = polled();
  EXPECT_EQ(query["tracestate"], "meta=1");
  EXPECT_EQ(query["baggage"], "of=meta");

  // A tracestate belongs to its traceparent; baggage does not.
  (void)Interact(services, http, {{"traceparent", other}});
  query = polled();
  EXPECT_FALSE(query.contains("tracestate"));
  EXPECT_EQ(query["baggage"], "of=http");
}

TEST_F(MetricsTest, MalformedTracestateAndBaggageAreDropped) {
  const std::vector<std::pair<std::map<std::string, std::string>, json>> calls = {
      {{{"traceparent", kCallTraceparent}, {"tracestate", "A=1"}, {"baggage", "a b=1"}}, nullptr},
      {{{"traceparent", "00-none"}, {"tracestate", "a=1"}}, nullptr},
      {{{"tracestate", "a=1"}}, nullptr},
      {{}, {{"tracestate", "a=1"}}},
      {{}, {{"traceparent", kCallTraceparent}, {"tracestate", 7}, {"baggage", json::array()}}},
      {{}, {{"traceparent", kCallTraceparent}, {"tracestate", "a=\n"}, {"baggage", "a=\u00e4"}}},
  };
  for (const auto& [headers, meta] : calls) {
    TestServices services;
    (void)Interact(services, headers, meta);
    const json query = services.Get("/pending-queries").body[0];
    EXPECT_TRUE(query.contains("traceparent"));
    EXPECT_FALSE(query.contains("tracestate")) << query;
    EXPECT_FALSE(query.contains("baggage")) << query;
  }
}

// observe health.

TEST_F(MetricsTest, HealthReportIsShort) {
  TestServices services;
  (void)Interact(services, {});
  const json called = services.CallTool("observe", {{"what", "health"}});
  const json& health = called["structuredContent"]["result"];
  EXPECT_EQ(health["ready"], true);
  EXPECT_EQ(health["reasons"], json::array({"no_worker"}));
  EXPECT_EQ(health["tracker"]["commands"], json::object({{"queued", 1}}));
  EXPECT_EQ(health["tracker"]["queue"]["depth"], 1);
  EXPECT_EQ(health["tracker"]["workers"]["connected"], 0);
  EXPECT_EQ(health["gateway"]["version"], health["tracker"]["version"]);
  EXPECT_LE(called["content"][0]["text"].get<std::string>().size(), 1200u);

  (void)services.Get("/pending-queries");
  const json later = services.ToolAnswer("observe", {{"what", "health"}})["result"];
  EXPECT_EQ(later["reasons"], json::array());
  EXPECT_EQ(later["tracker"]["workers"]["connected"], 1);
  EXPECT_EQ(later["tracker"]["commands"], json::object({{"delivered", 1}}));
}

TEST_F(MetricsTest, TrackerReportsHistoryOfLastMinutes) {
  TestServices services;
  const auto history = [&services] { return services.Get("/api/stats/history"); };
  const auto pass = [&services] { services.clock().Advance(absl::Seconds(10)); };
  EXPECT_EQ(history().body["samples"], json::array());

  (void)Interact(services, {});
  pass();
  services.tracker().NoteStatistics();
  pass();
  (void)services.Get("/pending-queries");
  services.tracker().NoteStatistics();
  const TestServices::Answer answer = history();
  ASSERT_EQ(answer.status, 200);
  const json& samples = answer.body["samples"];
  ASSERT_EQ(samples.size(), 2u) << answer.body;
  EXPECT_EQ(samples[0]["length_ms"], 10'000);
  EXPECT_EQ(samples[0]["registered"], 1);
  EXPECT_EQ(samples[0]["queued"], 1);
  EXPECT_EQ(samples[0]["failed"], json::object());
  EXPECT_FALSE(samples[0].contains("delivery_p50_ms"));
  EXPECT_EQ(samples[1]["time"], answer.body["time"]);
  EXPECT_EQ(samples[1]["registered"], 0);
  EXPECT_EQ(samples[1]["queued"], 0);
  // In the bucket from 10 to 30 s.
  EXPECT_EQ(samples[1]["delivery_p50_ms"], 20'000.0);
  EXPECT_EQ(samples[1]["delivery_p95_ms"], 29'000.0);
  EXPECT_FALSE(samples[1].contains("completion_p50_ms"));

  // The worker did not acknowledge it.
  pass();
  services.table().FireDeadlines(services.clock().Now());
  services.tracker().NoteStatistics();
  EXPECT_EQ(history().body["samples"][2]["failed"], (json{{"extension_no_response", 1}}));

  // A restarted tracker has no history.
  services.StopTracker();
  EXPECT_EQ(history().status, 503);
  services.StartTracker();
  EXPECT_EQ(history().body["samples"], json::array());
}

TEST_F(MetricsTest, HealthReportsUnreachableTracker) {
  TestServices services;
  services.StopTracker();
  const json health = services.ToolAnswer("observe", {{"what", "health"}});
  EXPECT_EQ(health["status"], "complete");
  EXPECT_EQ(health["result"]["ready"], false);
  EXPECT_EQ(health["result"]["reasons"], json::array({"tracker_unreachable"}));
  EXPECT_FALSE(health["result"].contains("tracker"));
  EXPECT_EQ(Scrape(services).Sum("callslip_tracker_connected"), 0);
  services.StartTracker();
}

}  // namespace
}  // namespace callslip
