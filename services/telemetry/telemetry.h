#pragma once

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

// Records spans of this process, and exports metrics, as long as it lives, if --otlp-endpoint or
// OpenTelemetry's variables request it. For main(): create it before the objects that record spans,
// and destroy it after them.
class Telemetry {
 public:
  using MakeTransport = absl::StatusOr<std::unique_ptr<OtlpTransport>> (*)(const OtlpTarget&);

  // INVALID_ARGUMENT, with the remedy, if the collector's address is invalid. `grpc` is null in a
  // program that is built without gRPC: nothing is then exported if OpenTelemetry's variables ask
  // for gRPC, because they may apply to the whole machine.
  static absl::StatusOr<std::unique_ptr<Telemetry>> Start(Clock* clock, absl::string_view program,
                                                          const std::string& endpoint,
                                                          MakeTransport grpc = &GrpcTransport);
  // Sends the remaining data, for at most two seconds.
  ~Telemetry();

  // Exports the metrics from `collect` as long as the returned object lives; null if no metrics are
  // exported. Call it once. INVALID_ARGUMENT as in Start().
  absl::StatusOr<MetricExporter::Collection> ExportMetrics(MetricExporter::Collect collect);

  // As the destructor, with another time limit. Call it once.
  void Stop(absl::Duration within);

 private:
  Telemetry(Clock* clock, TelemetrySettings settings, MakeTransport grpc);

  absl::Status RecordSpans(absl::string_view program);
  absl::StatusOr<std::unique_ptr<OtlpTransport>> TransportTo(const OtlpTarget& target,
                                                             absl::string_view what) const;

  Clock* const clock_;
  const TelemetrySettings settings_;
  const MakeTransport grpc_;
  // Null if not exported, and after Stop().
  std::unique_ptr<SpanExporter> spans_;
  std::unique_ptr<MetricExporter> metrics_;
};

}  // namespace callslip
