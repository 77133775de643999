#ifndef CALLSLIP_TELEMETRY_TELEMETRY_SETTINGS_H_
#define CALLSLIP_TELEMETRY_TELEMETRY_SETTINGS_H_

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
#include "telemetry/otlp_encoding.h"
#include "telemetry/sampler.h"

namespace callslip {

// Where spans or metrics go.
struct OtlpTarget {
  enum class Protocol { kHttp, kGrpc };

  Protocol protocol = Protocol::kHttp;
  std::string origin;  // http://HOST[:PORT] or https://HOST[:PORT]
  std::string path;    // Of the POST; with gRPC, of the method.
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string ca_file;                         // Of https; empty: the system's authorities.
  absl::Duration timeout = absl::Seconds(10);  // OTEL_EXPORTER_OTLP_TIMEOUT: of one attempt.
};

// How much of memory and time spans may take. The defaults are those of OpenTelemetry's batch
// processor, and the names in the comments its variables.
struct SpanLimits {
  size_t queue = 2048;                      // OTEL_BSP_MAX_QUEUE_SIZE: what is more is dropped.
  size_t batch = 512;                       // OTEL_BSP_MAX_EXPORT_BATCH_SIZE
  absl::Duration delay = absl::Seconds(5);  // OTEL_BSP_SCHEDULE_DELAY: until a batch is sent.
};

// What is recorded and exported.
struct TelemetrySettings {
  std::optional<OtlpTarget> spans;    // Nullopt: none are recorded.
  std::optional<OtlpTarget> metrics;  // Nullopt: none are exported.
  // Why none can be, where their endpoint is not a URL: of no matter to a program that has none.
  absl::Status metrics_error;
  Sampler sampler;
  SpanLimits limits;
  absl::Duration metric_interval = absl::Seconds(60);  // OTEL_METRIC_EXPORT_INTERVAL
  ResourceAttributes resource;
  // Variables that make no sense, and count as not set, as the specification wants it.
  std::vector<std::string> ignored;
};

// Returns the value of an environment variable, or nullptr.
using TelemetryEnvironment = std::function<const char*(const char* name)>;

// What `endpoint`, which is --otlp-endpoint and may be empty, and the variables of OpenTelemetry
// (opentelemetry.io/docs/specs/otel/protocol/exporter and
// …/configuration/sdk-environment-variables) ask for; those that are about one signal alone go
// before the others. No target where no endpoint is named, or OTEL_SDK_DISABLED,
// OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER say that there is none. `program` is the name of
// the service unless something else is said. INVALID_ARGUMENT where the spans' endpoint is not a
// URL.
absl::StatusOr<TelemetrySettings> ReadTelemetrySettings(absl::string_view endpoint,
                                                        absl::string_view program,
                                                        const TelemetryEnvironment& environment);

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_TELEMETRY_SETTINGS_H_
