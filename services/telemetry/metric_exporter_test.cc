#include "telemetry/metric_exporter.h"

#include <atomic>
#include <thread>

#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/testing/fake_collector.h"
#include "testing/otlp_metrics.pb.h"

namespace callslip {
namespace {

// The value of the only gauge of the request.
double ValueIn(const std::string& request) {
  testing::otlp::ExportMetricsServiceRequest decoded;
  EXPECT_TRUE(decoded.ParseFromString(request));
  const auto& metric = decoded.resource_metrics(0).scope_metrics(0).metrics(0);
  return metric.gauge().data_points(0).as_double();
}

class MetricExporterTest : public ::testing::Test {
 protected:
  MetricExporter::Collection Start() {
    auto collection = exporter_.Start([this](MetricsPage& page) {
      page.Gauge("looks", "Looks.", static_cast<double>(++looks_));
    });
    clock_.AwaitSleep();
    return collection;
  }
  void PassInterval() {
    clock_.AwaitSleep();
    clock_.Advance(absl::Seconds(60));
  }

  FakeClock clock_;
  FakeCollector collector_;
  std::atomic<int> looks_{0};
  MetricExporter exporter_{&clock_, TelemetrySettings{}, collector_.Transport()};
};

TEST_F(MetricExporterTest, CollectsAndSendsMetricsEachInterval) {
  const auto collection = Start();
  EXPECT_EQ(looks_, 0);
  PassInterval();
  EXPECT_EQ(ValueIn(collector_.Await(1).back()), 1);
  PassInterval();
  EXPECT_EQ(ValueIn(collector_.Await(2).back()), 2);
}

TEST_F(MetricExporterTest, MetricsAreCollectedAtEndAndNotAfter) {
  auto collection = Start();
  collection.reset();
  EXPECT_EQ(looks_, 1);
  exporter_.Stop(absl::Seconds(10));
  EXPECT_EQ(ValueIn(collector_.Await(1).back()), 1);
  EXPECT_EQ(looks_, 1);
}

TEST_F(MetricExporterTest, HangingCollectorBlocksNothingAndGetsNoBacklog) {
  auto collection = Start();
  collector_.Hang(true);
  PassInterval();
  collector_.Await(1);
  for (int i = 0; i < 10; ++i) clock_.Advance(absl::Seconds(60));
  EXPECT_EQ(looks_, 1);
  // Both return.
  collection.reset();
  exporter_.Stop(absl::Milliseconds(20));
  EXPECT_EQ(looks_, 2);
}

TEST_F(MetricExporterTest, RefusedMetricsAreNotResentButNextOnesAreSent) {
  const auto collection = Start();
  collector_.AnswerWith({{.status = absl::InternalError("400")}});
  PassInterval();
  collector_.Await(1);
  PassInterval();
  EXPECT_EQ(ValueIn(collector_.Await(2).back()), 2);
}

TEST_F(MetricExporterTest, StopsWithoutHavingStarted) { exporter_.Stop(absl::Seconds(10)); }

}  // namespace
}  // namespace callslip
