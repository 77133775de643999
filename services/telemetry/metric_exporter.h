#ifndef CALLSLIP_TELEMETRY_METRIC_EXPORTER_H_
#define CALLSLIP_TELEMETRY_METRIC_EXPORTER_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/metrics.h"
#include "telemetry/otlp_transport.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// Sends what GET /metrics tells to a collector again and again, from a thread of its own. Nobody
// waits for that, and nothing is kept for a collector that is away: the numbers are cumulative, so
// that the next ones make up for those it has missed. Thread-safe.
class MetricExporter {
 public:
  using Collect = std::function<void(MetricsPage& page)>;
  // Has the numbers taken for as long as it lives. Its end takes the last ones on its own thread,
  // which are sent by Stop() at the latest, and waits for a `collect` under way, for nothing else.
  struct Finish {
    void operator()(MetricExporter* exporter) const { exporter->FinishCollection(); }
  };
  using Collection = std::unique_ptr<MetricExporter, Finish>;

  // `clock` must outlive this.
  MetricExporter(Clock* clock, const TelemetrySettings& settings,
                 std::unique_ptr<OtlpTransport> transport);
  ~MetricExporter();

  // From now on `collect` fills pages, mostly on this object's thread, one after the other. Once.
  Collection Start(Collect collect);

  // Sends what is left, for `within` at most and a moment more. After the end of the collection.
  void Stop(absl::Duration within);

 private:
  class Worker;

  void FinishCollection();

  const absl::Duration interval_;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_METRIC_EXPORTER_H_
