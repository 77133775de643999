#include "common/metrics.h"

#include "common/metrics_text.h"
#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/prometheus_text.h"

namespace callslip {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(LatencyHistogramTest, BucketIncludesItsUpperBound) {
  LatencyHistogram histogram;
  histogram.Observe(100'000);
  histogram.Observe(100'001);
  histogram.Observe(600'000'000'001);
  histogram.Observe(-5);
  EXPECT_EQ(histogram.counts.front(), 2);
  EXPECT_EQ(histogram.counts[1], 1);
  EXPECT_EQ(histogram.counts.back(), 1);
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.sum_nanos, 600'000'200'002);
}

TEST(LatencyHistogramTest, SharedHistogramCountsTheSame) {
  LatencyHistogram one;
  SharedLatencyHistogram other;
  for (const int64_t nanos : {int64_t{-1}, int64_t{100'000}, int64_t{1'000'000'000'000}}) {
    one.Observe(nanos);
    other.Observe(nanos);
  }
  EXPECT_EQ(other.Read().counts, one.counts);
  EXPECT_EQ(other.Read().sum_nanos, one.sum_nanos);
  one.Add(other.Read());
  EXPECT_EQ(one.count(), 6);
}

const TraceContext kSampled =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
constexpr int64_t kAt = 1'795'509'797'012'256'484;

TEST(LatencyHistogramTest, KeepsLastSampledTraceOfEachBucket) {
  LatencyHistogram histogram;
  SharedLatencyHistogram shared;
  const auto observe = [&](int64_t nanos, const TraceContext& trace, int64_t at) {
    histogram.Observe(nanos, trace, at);
    shared.Observe(nanos, trace, at);
  };
  observe(2'000'000, kSampled.WithSampled(false), kAt);
  observe(2'000'000, TraceContext(), kAt);
  EXPECT_TRUE(histogram.exemplars.empty());
  EXPECT_TRUE(shared.Read().exemplars.empty());
  observe(2'000'000, kSampled, kAt);
  observe(2'000'001, kSampled.WithSpan(1), kAt + 1);
  observe(2'000'002, TraceContext(), kAt + 2);
  for (const auto& exemplars : {histogram.exemplars, shared.Read().exemplars}) {
    ASSERT_EQ(exemplars.size(), LatencyHistogram::kBuckets);
    EXPECT_EQ(exemplars[4].trace, kSampled.WithSpan(1));
    EXPECT_EQ(exemplars[4].nanos, 2'000'001);
    EXPECT_TRUE(exemplars[3].trace.empty());
  }
  EXPECT_EQ(histogram.count(), 5);
  EXPECT_EQ(shared.Read().count(), 5);
}

TEST(LatencyHistogramTest, AddKeepsLaterExemplar) {
  LatencyHistogram one;
  LatencyHistogram other;
  one.Observe(2'000'000, kSampled, kAt);
  other.Add(one);
  EXPECT_EQ(other.exemplars[4].trace, kSampled);
  LatencyHistogram later;
  later.Observe(2'000'000, kSampled.WithSpan(1), kAt + 1);
  other.Add(later);
  other.Add(one);
  EXPECT_EQ(other.exemplars[4].trace, kSampled.WithSpan(1));
}

TEST(MetricsPageTest, WritesPrometheusTextFormat) {
  LatencyHistogram histogram;
  histogram.Observe(2'000'000);
  histogram.Observe(20'000'000);
  MetricsPage page;
  page.Counter("calls_total", "Calls.", 3, {{"code", "ok"}});
  page.Counter("calls_total", "Calls.", 4, {{"code", "a \"b\"\n"}});
  page.Gauge("depth", "Depth.", 7);
  page.Histogram("taken_seconds", "Time.", histogram, {{"kind", "x"}});
  const std::string text = PlainMetricsText(page);
  EXPECT_THAT(text, HasSubstr("# HELP calls_total Calls.\n# TYPE calls_total counter\n"
                              "calls_total{code=\"ok\"} 3\n"
                              "calls_total{code=\"a \\\"b\\\"\\n\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE depth gauge\ndepth 7\n"));
  EXPECT_THAT(text, HasSubstr("taken_seconds_bucket{kind=\"x\",le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("taken_seconds_bucket{kind=\"x\",le=\"+Inf\"} 2\n"));

  const PrometheusText read(text);
  EXPECT_EQ(read.problems(), "");
  EXPECT_EQ(read.Sum("calls_total"), 7);
  EXPECT_EQ(read.Sum("taken_seconds_count", {{"kind", "x"}}), 2);
  EXPECT_DOUBLE_EQ(read.Sum("taken_seconds_sum"), 0.022);
}

TEST(MetricsPageTest, WritesOpenMetrics) {
  LatencyHistogram histogram;
  histogram.Observe(2'000'000);
  MetricsPage page;
  page.Counter("calls_total", "Calls of \"a\".", 3, {{"code", "ok"}});
  page.Gauge("depth", "Depth.", 0.1);
  page.Histogram("taken_seconds", "Time.", histogram);
  const std::string text = OpenMetricsText(page);
  EXPECT_THAT(text, HasSubstr("# HELP calls Calls of \\\"a\\\".\n# TYPE calls counter\n"
                              "calls_total{code=\"ok\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE depth gauge\ndepth 0.1\n"));
  EXPECT_THAT(text, HasSubstr("taken_seconds_bucket{le=\"0.0001\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("taken_seconds_bucket{le=\"1.0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("taken_seconds_bucket{le=\"+Inf\"} 1\n"));
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
}

TEST(MetricsPageTest, ExemplarsAppearInOpenMetricsOnly) {
  LatencyHistogram histogram;
  histogram.Observe(2'000'000);
  histogram.Observe(2'000'500, kSampled, kAt);
  histogram.exemplars[4].unix_nanos = kAt;
  MetricsPage page;
  page.Histogram("taken_seconds", "Time.", histogram, {{"kind", "x"}});
  EXPECT_THAT(OpenMetricsText(page),
              HasSubstr("taken_seconds_bucket{kind=\"x\",le=\"0.001\"} 0\n"
                        "taken_seconds_bucket{kind=\"x\",le=\"0.0025\"} 2 # {trace_id="
                        "\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"00f067aa0ba902b7\"} "
                        "0.0020005 1795509797.012\n"
                        "taken_seconds_bucket{kind=\"x\",le=\"0.005\"} 2\n"));
  EXPECT_EQ(PrometheusText(PlainMetricsText(page)).problems(), "");
}

TEST(MetricsPageTest, OpenMetricsIsSentOnlyWhenRequestedByName) {
  MetricsPage page;
  const auto is_open = [&page](absl::string_view accept) {
    const MetricsAnswer answer = AnswerScrape(page, accept);
    const bool open =
        answer.content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8";
    EXPECT_TRUE(open || answer.content_type == "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(answer.body, open ? "# EOF\n" : "");
    return open;
  };
  // Prometheus.
  EXPECT_TRUE(
      is_open("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
              "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  EXPECT_TRUE(is_open("Application/OpenMetrics-Text"));
  EXPECT_TRUE(is_open("text/plain, application/openmetrics-text"));
  EXPECT_FALSE(is_open(""));
  EXPECT_FALSE(is_open("*/*"));
  EXPECT_FALSE(is_open("text/html,application/xhtml+xml,*/*;q=0.8"));
  EXPECT_FALSE(is_open("text/plain;version=0.0.4, application/openmetrics-text; q=0.5"));
  EXPECT_FALSE(is_open("application/openmetrics-text;q=0"));
  EXPECT_FALSE(is_open("application/openmetrics-text;q=high"));
}

TEST(MetricsPageTest, ReportsProcessMetrics) {
  MetricsPage page;
  page.Process();
  const PrometheusText read(PlainMetricsText(page));
  EXPECT_EQ(read.problems(), "");
  EXPECT_EQ(read.Sum("callslip_build_info", {{"version", kVersion}}), 1);
  EXPECT_GT(read.Sum("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(read.Sum("process_threads"), 1);
  EXPECT_GE(read.Sum("process_open_fds"), 3);
  EXPECT_GT(read.Sum("process_max_fds"), read.Sum("process_open_fds"));
  // After 2017: the value is in seconds since 1970.
  EXPECT_GT(read.Sum("process_start_time_seconds"), 1.5e9);
  EXPECT_TRUE(read.Has("process_cpu_seconds_total"));
}

// The parser that these tests use finds malformed pages.
TEST(PrometheusTextTest, DetectsMalformedPages) {
  const std::string head = "# HELP a_total A.\n# TYPE a_total counter\n";
  EXPECT_EQ(PrometheusText(head + "a_total 1\n").problems(), "");
  for (const char* wrong :
       {"a_total 1", "a_total x\n", "b_total 1\n", "a_total 1\na_total 2\n", "a_total{x=1} 1\n",
        "# TYPE b_total counter\nb_total 1\n", "# HELP b B.\n# TYPE b counter\nb 1\n",
        "# HELP b_total B.\n# TYPE b_total gauge\nb_total 1\n", "# HELP a_total A.\n",
        "# HELP h_seconds H.\n# TYPE h_seconds histogram\nh_seconds_bucket{le=\"1\"} 1\n"
        "h_seconds_count 1\n",
        "# HELP h_seconds H.\n# TYPE h_seconds histogram\nh_seconds_bucket{le=\"1\"} 2\n"
        "h_seconds_bucket{le=\"+Inf\"} 1\nh_seconds_count 1\n"}) {
    EXPECT_NE(PrometheusText(head + wrong).problems(), "") << wrong;
  }
}

}  // namespace
}  // namespace callslip
