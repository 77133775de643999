#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "telemetry/span.h"

namespace callslip {

using ResourceAttributes = std::vector<std::pair<std::string, std::string>>;

// Encodes a resource with its attributes for EncodeSpans(): it is the same for the whole process.
std::string EncodeResource(const ResourceAttributes& attributes);

// The bytes of an opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. Encoded by
// hand: we use only a page of the messages, and the bridge has no protobuf. The field numbers are
// those of opentelemetry-proto 1.9, which are stable
// (github.com/open-telemetry/opentelemetry-proto/tree/v1.9.0/opentelemetry/proto).
std::string EncodeSpans(absl::string_view resource, const std::vector<Span>& spans);

// The bytes of one span.
std::string EncodeSpan(const Span& span);
// A request with encoded spans or metrics; their messages use the same field numbers.
std::string EncodeRequest(absl::string_view resource, const std::vector<std::string>& items);

// The number of spans or data points that a collector has rejected, according to the bytes of its
// Export…ServiceResponse; 0 if these are malformed.
int64_t RejectedIn(absl::string_view response);

}  // namespace callslip
