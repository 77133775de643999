#ifndef CALLSLIP_TELEMETRY_TELEMETRY_H_
#define CALLSLIP_TELEMETRY_TELEMETRY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "telemetry/metric_exporter.h"
#include "telemetry/otlp_transport.h"
#include "telemetry/span_exporter.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// Has spans of this process recorded for as long as it lives, and metrics exported, where
// --otlp-endpoint or OpenTelemetry's variables say so. For main(): to be made before what records
// them, and to end after it.
class Telemetry {
 public:
  using MakeTransport = absl::StatusOr<std::unique_ptr<OtlpTransport>> (*)(const OtlpTarget&);

  // INVALID_ARGUMENT with what to change, where the collector is named wrongly. `grpc` is null in a
  // program that is built without: then nothing is exported where OpenTelemetry's variables ask for
  // it, since they may be the whole machine's.
  static absl::StatusOr<std::unique_ptr<Telemetry>> Start(Clock* clock, absl::string_view program,
                                                          const std::string& endpoint,
                                                          MakeTransport grpc = &GrpcTransport);
  // Sends what there is, for two seconds at most.
  ~Telemetry();

  // Has what `collect` tells exported for as long as what is returned lives; null where no metrics
  // are to be. Once. INVALID_ARGUMENT as Start().
  absl::StatusOr<MetricExporter::Collection> ExportMetrics(MetricExporter::Collect collect);

  // What the destructor does, with another bound. Once only.
  void Stop(absl::Duration within);

 private:
  Telemetry(Clock* clock, TelemetrySettings settings, MakeTransport grpc);

  absl::Status RecordSpans(absl::string_view program);
  absl::StatusOr<std::unique_ptr<OtlpTransport>> TransportTo(const OtlpTarget& target,
                                                             absl::string_view what) const;

  Clock* const clock_;
  const TelemetrySettings settings_;
  const MakeTransport grpc_;
  // Null where there are none, and once they were stopped.
  std::unique_ptr<SpanExporter> spans_;
  std::unique_ptr<MetricExporter> metrics_;
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_TELEMETRY_H_
