#include "telemetry/otlp_metrics.h"

#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/otlp_encoding.h"
#include "testing/otlp_metrics.pb.h"

namespace callslip {
namespace {

namespace otlp = callslip::testing::otlp;
using ::testing::ElementsAre;

constexpr MetricTimes kTimes = {.start_nanos = 1'795'509'797'000'000'001,
                                .now_nanos = 1'795'509'857'000'000'002};

otlp::ScopeMetrics Decoded(const MetricsPage& page) {
  otlp::ExportMetricsServiceRequest request;
  EXPECT_TRUE(request.ParseFromString(
      EncodeMetrics(EncodeResource({{"service.name", "a"}}), page.families(), kTimes)));
  EXPECT_EQ(request.resource_metrics_size(), 1);
  EXPECT_EQ(request.resource_metrics(0).resource().attributes(0).value().string_value(), "a");
  EXPECT_EQ(request.resource_metrics(0).scope_metrics_size(), 1);
  return request.resource_metrics(0).scope_metrics(0);
}

// Nothing is in a field that the protos do not have.
template <typename Message>
void ExpectAllKnown(const Message& message) {
  EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty());
}

TEST(OtlpMetricsTest, CounterIsMonotonicCumulativeSum) {
  MetricsPage page;
  page.Counter("calls_total", "Calls.", 3, {{"code", "ok"}, {"method", "a"}});
  page.Counter("calls_total", "Calls.", 0.5, {{"code", "other"}});
  const otlp::ScopeMetrics scope = Decoded(page);
  EXPECT_EQ(scope.scope().name(), "callslip");
  EXPECT_EQ(scope.scope().version(), kVersion);
  ASSERT_EQ(scope.metrics_size(), 1);
  const otlp::Metric& metric = scope.metrics(0);
  EXPECT_EQ(metric.name(), "calls_total");
  EXPECT_EQ(metric.description(), "Calls.");
  EXPECT_EQ(metric.unit(), "");
  EXPECT_TRUE(metric.sum().is_monotonic());
  EXPECT_EQ(metric.sum().aggregation_temporality(), otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  ASSERT_EQ(metric.sum().data_points_size(), 2);
  const otlp::NumberDataPoint& point = metric.sum().data_points(0);
  EXPECT_EQ(point.as_double(), 3);
  EXPECT_EQ(point.start_time_unix_nano(), 1'795'509'797'000'000'001u);
  EXPECT_EQ(point.time_unix_nano(), 1'795'509'857'000'000'002u);
  ASSERT_EQ(point.attributes_size(), 2);
  EXPECT_EQ(point.attributes(1).key(), "method");
  EXPECT_EQ(point.attributes(1).value().string_value(), "a");
  EXPECT_EQ(metric.sum().data_points(1).as_double(), 0.5);
  ExpectAllKnown(metric);
  ExpectAllKnown(metric.sum());
  ExpectAllKnown(point);
}

TEST(OtlpMetricsTest, GaugeHasValueEvenIfZero) {
  MetricsPage page;
  page.Gauge("memory_bytes", "Memory.", 0);
  const otlp::Metric metric = Decoded(page).metrics(0);
  EXPECT_EQ(metric.unit(), "By");
  ASSERT_EQ(metric.gauge().data_points_size(), 1);
  EXPECT_EQ(metric.gauge().data_points(0).value_case(), otlp::NumberDataPoint::kAsDouble);
  EXPECT_EQ(metric.gauge().data_points(0).start_time_unix_nano(), 0u);
  EXPECT_EQ(metric.gauge().data_points(0).time_unix_nano(), 1'795'509'857'000'000'002u);
}

TEST(OtlpMetricsTest, HistogramHasBoundsAndBucketCounts) {
  LatencyHistogram histogram;
  histogram.Observe(2'000'000);
  histogram.Observe(2'000'001);
  histogram.Observe(700'000'000'000);
  MetricsPage page;
  page.Histogram("taken_seconds", "Time.", histogram, {{"kind", "x"}});
  const otlp::Metric metric = Decoded(page).metrics(0);
  EXPECT_EQ(metric.unit(), "s");
  EXPECT_EQ(metric.histogram().aggregation_temporality(), otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  const otlp::HistogramDataPoint& point = metric.histogram().data_points(0);
  EXPECT_EQ(point.count(), 3u);
  EXPECT_DOUBLE_EQ(point.sum(), 700.004000001);
  EXPECT_EQ(point.start_time_unix_nano(), 1'795'509'797'000'000'001u);
  ASSERT_EQ(point.explicit_bounds_size(), 20);
  EXPECT_DOUBLE_EQ(point.explicit_bounds(4), 0.0025);
  ASSERT_EQ(point.bucket_counts_size(), 21);
  EXPECT_EQ(point.bucket_counts(3), 0u);
  EXPECT_EQ(point.bucket_counts(4), 2u);
  EXPECT_EQ(point.bucket_counts(20), 1u);
  EXPECT_EQ(point.attributes(0).key(), "kind");
  EXPECT_EQ(point.exemplars_size(), 0);
  ExpectAllKnown(metric);
  ExpectAllKnown(metric.histogram());
  ExpectAllKnown(point);
}

TEST(OtlpMetricsTest, HistogramHasExemplars) {
  const TraceContext trace =
      *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  LatencyHistogram histogram;
  histogram.Observe(2'000'000, trace, 0);
  histogram.exemplars[4].unix_nanos = 1'795'509'797'000'000'003;
  MetricsPage page;
  page.Histogram("taken_seconds", "Time.", histogram);
  const otlp::HistogramDataPoint point = Decoded(page).metrics(0).histogram().data_points(0);
  ASSERT_EQ(point.exemplars_size(), 1);
  const otlp::Exemplar& exemplar = point.exemplars(0);
  EXPECT_EQ(exemplar.trace_id(), std::string(trace.trace_id()));
  EXPECT_EQ(exemplar.span_id(), std::string(trace.span_id()));
  EXPECT_DOUBLE_EQ(exemplar.as_double(), 0.002);
  EXPECT_EQ(exemplar.time_unix_nano(), 1'795'509'797'000'000'003u);
  ExpectAllKnown(exemplar);
}

}  // namespace
}  // namespace callslip
