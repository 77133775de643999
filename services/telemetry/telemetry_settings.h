#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/tls_files.h"
#include "telemetry/otlp_encoding.h"
#include "telemetry/sampler.h"

namespace callslip {

// The destination of spans or metrics.
struct OtlpTarget {
  enum class Protocol { kHttp, kGrpc };

  Protocol protocol = Protocol::kHttp;
  std::string origin;  // http://HOST[:PORT] or https://HOST[:PORT]
  std::string path;    // Of the POST, or of the gRPC method.
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  TlsFiles tls;                                              // For https.
  absl::Duration timeout = absl::Seconds(10);  // OTEL_EXPORTER_OTLP_TIMEOUT: of one attempt.
};

// Limits for the memory and time that spans take. The defaults are those of OpenTelemetry's batch
// processor, and the names in the comments its variables.
struct SpanLimits {
  size_t queue = 2048;                      // OTEL_BSP_MAX_QUEUE_SIZE: further spans are dropped.
  size_t batch = 512;                       // OTEL_BSP_MAX_EXPORT_BATCH_SIZE
  absl::Duration delay = absl::Seconds(5);  // OTEL_BSP_SCHEDULE_DELAY: until a batch is sent.
};

// The signals to record and export, and how.
struct TelemetrySettings {
  std::optional<OtlpTarget> spans;    // Nullopt: none are recorded.
  std::optional<OtlpTarget> metrics;  // Nullopt: none are exported.
  // The error in the metrics' endpoint, if it is not a valid URL. A program without metrics ignores
  // it.
  absl::Status metrics_error;
  Sampler sampler;
  SpanLimits limits;
  absl::Duration metric_interval = absl::Seconds(60);  // OTEL_METRIC_EXPORT_INTERVAL
  ResourceAttributes resource;
  // Variables with invalid values, which count as unset, as the specification requires.
  std::vector<std::string> ignored;
};

// Returns the value of an environment variable, or nullptr.
using TelemetryEnvironment = std::function<const char*(const char* name)>;

// Reads the settings from `endpoint`, which is --otlp-endpoint and may be empty, and
// OpenTelemetry's variables (opentelemetry.io/docs/specs/otel/protocol/exporter and
// …/configuration/sdk-environment-variables). Variables for one signal take precedence over common
// ones. There is no target if no endpoint is named, or if OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER
// or OTEL_METRICS_EXPORTER disables it. `program` is the service's name unless a variable overrides
// it. INVALID_ARGUMENT if the spans' endpoint is not a valid URL.
absl::StatusOr<TelemetrySettings> ReadTelemetrySettings(absl::string_view endpoint,
                                                        absl::string_view program,
                                                        const TelemetryEnvironment& environment);

}  // namespace callslip
