#include "common/metrics.h"

#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/prometheus_text.h"

namespace callslip {
namespace {

using ::testing::HasSubstr;

TEST(LatencyHistogramTest, LatencyIsCountedUpToTheBoundOfItsBucket) {
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

TEST(LatencyHistogramTest, SharedOneCountsTheSame) {
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

TEST(MetricsPageTest, WritesTheTextFormat) {
  LatencyHistogram histogram;
  histogram.Observe(2'000'000);
  histogram.Observe(20'000'000);
  MetricsPage page;
  page.Counter("calls_total", "Calls.", 3, {{"code", "ok"}});
  page.Counter("calls_total", "Calls.", 4, {{"code", "a \"b\"\n"}});
  page.Gauge("depth", "Depth.", 7);
  page.Histogram("taken_seconds", "Time.", histogram, {{"kind", "x"}});
  const std::string text = page.Text();
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

TEST(MetricsPageTest, TellsOfTheProcess) {
  MetricsPage page;
  page.Process();
  const PrometheusText read(page.Text());
  EXPECT_EQ(read.problems(), "");
  EXPECT_EQ(read.Sum("callslip_build_info", {{"version", kVersion}}), 1);
  EXPECT_GT(read.Sum("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(read.Sum("process_threads"), 1);
  EXPECT_GE(read.Sum("process_open_fds"), 3);
  EXPECT_GT(read.Sum("process_max_fds"), read.Sum("process_open_fds"));
  // After 2020, and so in seconds since 1970.
  EXPECT_GT(read.Sum("process_start_time_seconds"), 1.5e9);
  EXPECT_TRUE(read.Has("process_cpu_seconds_total"));
}

// What the reader of these tests is worth.
TEST(PrometheusTextTest, FindsWhatIsWrong) {
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
