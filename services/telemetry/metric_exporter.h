#pragma once

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/metrics.h"
#include "telemetry/otlp_transport.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// Periodically sends the content of GET /metrics to a collector from its own thread. No other
// thread waits for that, and nothing is buffered for an unavailable collector: the numbers are
// cumulative, so that later ones make up for missed ones. Thread-safe.
class MetricExporter {
 public:
  using Collect = std::function<void(MetricsPage& page)>;
  // Metrics are collected as long as this lives. Its destructor collects the last ones on the
  // calling thread; Stop() sends them at the latest. It waits for a running `collect` only.
  struct Finish {
    void operator()(MetricExporter* exporter) const { exporter->FinishCollection(); }
  };
  using Collection = std::unique_ptr<MetricExporter, Finish>;

  // `clock` must outlive this.
  MetricExporter(Clock* clock, const TelemetrySettings& settings,
                 std::unique_ptr<OtlpTransport> transport);
  ~MetricExporter();

  // From now on calls `collect` to fill pages, mostly on this object's thread, never concurrently.
  // Call it once.
  Collection Start(Collect collect);

  // Sends the remaining metrics, for at most `within` plus a moment. Call it after the collection
  // has ended.
  void Stop(absl::Duration within);

 private:
  class Worker;

  void FinishCollection();

  const absl::Duration interval_;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace callslip
