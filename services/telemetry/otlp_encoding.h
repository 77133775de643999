#ifndef CALLSLIP_TELEMETRY_OTLP_ENCODING_H_
#define CALLSLIP_TELEMETRY_OTLP_ENCODING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "telemetry/span.h"

namespace callslip {

using ResourceAttributes = std::vector<std::pair<std::string, std::string>>;

// A resource with what it says of itself, for EncodeSpans(): it is the same for all of a process.
std::string EncodeResource(const ResourceAttributes& attributes);

// The bytes of an opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. Written by
// hand: what we use of the messages is a page, and the bridge has no protobuf. The numbers of the
// fields are those of opentelemetry-proto 1.9, which are stable
// (github.com/open-telemetry/opentelemetry-proto/tree/v1.9.0/opentelemetry/proto).
std::string EncodeSpans(absl::string_view resource, const std::vector<Span>& spans);

// The bytes of one of its spans.
std::string EncodeSpan(const Span& span);
// A request of such; of metrics alike, whose messages have the same numbers as those of spans.
std::string EncodeRequest(absl::string_view resource, const std::vector<std::string>& items);

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_OTLP_ENCODING_H_
