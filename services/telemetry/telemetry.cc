#include "telemetry/telemetry.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "tls/client_tls.h"

namespace callslip {
namespace {

// More than a working collector takes.
constexpr absl::Duration kFlush = absl::Seconds(2);

}  // namespace

absl::StatusOr<std::unique_ptr<Telemetry>> Telemetry::Start(Clock* clock, absl::string_view program,
                                                            const std::string& endpoint,
                                                            MakeTransport grpc) {
  ASSIGN_OR_RETURN(TelemetrySettings settings,
                   ReadTelemetrySettings(endpoint, program, [](const char* name) {
                     return static_cast<const char*>(std::getenv(name));
                   }));
  for (const std::string& variable : settings.ignored) {
    Log(LogLevel::kWarning, "a variable makes no sense and is ignored", {{"variable", variable}});
  }
  std::unique_ptr<Telemetry> telemetry(new Telemetry(clock, std::move(settings), grpc));
  RETURN_IF_ERROR(telemetry->RecordSpans(program));
  return telemetry;
}

Telemetry::Telemetry(Clock* clock, TelemetrySettings settings, MakeTransport grpc)
    : clock_(clock), settings_(std::move(settings)), grpc_(grpc) {}

Telemetry::~Telemetry() { Stop(kFlush); }

// Null if the program does not support the protocol, or a file cannot be used.
absl::StatusOr<std::unique_ptr<OtlpTransport>> Telemetry::TransportTo(
    const OtlpTarget& target, absl::string_view what) const {
  const bool is_tls = absl::StartsWith(target.origin, "https:");
  const absl::Status usable = is_tls ? ClientTls::Load(target.tls).status() : absl::OkStatus();
  if (!usable.ok()) {
    Log(LogLevel::kWarning,
        absl::StrCat("no ", what, " are exported: a file that ",
                     "OTEL_EXPORTER_OTLP_… names cannot be used"),
        {{"reason", std::string(usable.message())}});
    return nullptr;
  }
  if (target.protocol == OtlpTarget::Protocol::kHttp) return HttpTransport(target);
  if (grpc_ != nullptr) return grpc_(target);
  Log(LogLevel::kWarning, absl::StrCat("no ", what, " are exported: only http/protobuf is known"));
  return nullptr;
}

absl::Status Telemetry::RecordSpans(absl::string_view program) {
  if (!settings_.spans.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto transport, TransportTo(*settings_.spans, "spans"));
  if (transport == nullptr) return absl::OkStatus();
  std::unique_ptr<SpanFile> file;
  if (const char* folder = std::getenv("CALLSLIP_SPAN_DIR"); folder != nullptr && *folder != '\0') {
    absl::StatusOr<std::unique_ptr<SpanFile>> opened = SpanFile::Open(folder, program);
    if (opened.ok()) {
      file = *std::move(opened);
    } else {
      Log(LogLevel::kWarning, "spans are not kept for the case that this process is killed",
          {{"reason", std::string(opened.status().message())}});
    }
  }
  Log(LogLevel::kInfo, "spans are recorded", {{"collector", settings_.spans->origin}});
  spans_ = std::make_unique<SpanExporter>(clock_, settings_, std::move(transport), std::move(file));
  SetSpans(spans_.get());
  return absl::OkStatus();
}

absl::StatusOr<MetricExporter::Collection> Telemetry::ExportMetrics(
    MetricExporter::Collect collect) {
  RETURN_IF_ERROR(settings_.metrics_error);
  if (!settings_.metrics.has_value()) return nullptr;
  ASSIGN_OR_RETURN(auto transport, TransportTo(*settings_.metrics, "metrics"));
  if (transport == nullptr) return nullptr;
  Log(LogLevel::kInfo, "metrics are exported", {{"collector", settings_.metrics->origin}});
  metrics_ = std::make_unique<MetricExporter>(clock_, settings_, std::move(transport));
  return metrics_->Start(std::move(collect));
}

void Telemetry::Stop(absl::Duration within) {
  SetSpans(nullptr);
  if (spans_ != nullptr) spans_->Stop(within);
  if (metrics_ != nullptr) metrics_->Stop(within);
  spans_ = nullptr;
  metrics_ = nullptr;
}

}  // namespace callslip
