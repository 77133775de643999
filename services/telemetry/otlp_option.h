#pragma once

#include <string>

#include "common/config.h"

namespace callslip {

// For every program that records spans; programs with metrics export these as well.
inline void AddOtlpEndpoint(OptionSet& options, std::string* endpoint) {
  options.Add("otlp-endpoint", endpoint,
              "Record spans, and send them and metrics to the OpenTelemetry collector at this URL, "
              "such as http://127.0.0.1:4318; OpenTelemetry's OTEL_… variables say how");
}

}  // namespace callslip
