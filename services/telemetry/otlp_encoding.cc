#include "telemetry/otlp_encoding.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/strip.h"
#include "common/version.h"
#include "telemetry/otlp_fields.h"

namespace callslip {
namespace {

// Most spans are smaller.
constexpr size_t kUsualSpanBytes = 512;

// Span.Link: trace_id = 1, span_id = 2, flags = 6.
void WriteLink(int field, const TraceContext& to, FieldWriter& fields) {
  constexpr size_t kFlagsBytes = 1 + sizeof(uint32_t);
  fields.Message(field,
                 FieldBytes(to.trace_id().size()) + FieldBytes(to.span_id().size()) + kFlagsBytes);
  fields.Bytes(1, to.trace_id());
  fields.Bytes(2, to.span_id());
  fields.Fixed32(6, to.flags());
}

// InstrumentationScope: name = 1, version = 2.
std::string EncodeScope() {
  std::string bytes;
  FieldWriter scope(&bytes);
  scope.Bytes(1, "callslip");
  scope.Bytes(2, kVersion);
  return bytes;
}

// Takes a varint off the front of `bytes`. Nullopt if malformed.
std::optional<uint64_t> TakeVarint(absl::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

// Resource: attributes = 1.
std::string EncodeResource(const ResourceAttributes& attributes) {
  std::string bytes;
  FieldWriter resource(&bytes);
  for (const auto& [key, value] : attributes) WriteAttribute(1, key, value, resource);
  return bytes;
}

std::string EncodeSpan(const Span& span) {
  std::string bytes;
  bytes.reserve(kUsualSpanBytes);
  FieldWriter fields(&bytes);
  fields.Bytes(1, span.context.trace_id());
  fields.Bytes(2, span.context.span_id());
  if (!span.parent.empty()) fields.Bytes(4, span.parent.span_id());
  fields.Bytes(5, span.name);
  fields.AlwaysVarint(6, static_cast<uint64_t>(span.kind));
  fields.Fixed64(7, span.start_nanos);
  fields.Fixed64(8, span.end_nanos);
  for (const SpanAttribute& each : span.attributes) {
    WriteAttribute(9, each.key, each.value, fields);
  }
  for (const TraceContext& link : span.links) WriteLink(13, link, fields);
  if (span.failed) {
    // Status: code = 3, where 2 is an error. Its message is omitted: it might quote a request.
    fields.Message(15, 2);
    fields.AlwaysVarint(3, 2);
  }
  fields.Fixed32(16, span.context.flags());
  return bytes;
}

std::string EncodeSpans(absl::string_view resource, const std::vector<Span>& spans) {
  std::vector<std::string> encoded;
  encoded.reserve(spans.size());
  for (const Span& span : spans) encoded.push_back(EncodeSpan(span));
  return EncodeRequest(resource, encoded);
}

// ExportTraceServiceRequest: resource_spans = 1. ResourceSpans: resource = 1, scope_spans = 2.
// ScopeSpans: scope = 1, spans = 2. For metrics, these names have "metrics" in place of "spans".
std::string EncodeRequest(absl::string_view resource, const std::vector<std::string>& items) {
  const std::string scope = EncodeScope();
  size_t scope_bytes = FieldBytes(scope.size());
  for (const std::string& item : items) scope_bytes += FieldBytes(item.size());
  const size_t resource_bytes = FieldBytes(resource.size()) + FieldBytes(scope_bytes);
  std::string bytes;
  bytes.reserve(FieldBytes(resource_bytes));
  FieldWriter fields(&bytes);
  fields.Message(1, resource_bytes);
  fields.AlwaysBytes(1, resource);
  fields.Message(2, scope_bytes);
  fields.AlwaysBytes(1, scope);
  for (const std::string& item : items) fields.AlwaysBytes(2, item);
  return bytes;
}

// ExportTraceServiceResponse: partial_success = 1. ExportTracePartialSuccess: rejected_spans = 1,
// which comes first; for metrics, rejected_data_points = 1.
int64_t RejectedIn(absl::string_view response) {
  constexpr char kPartialSuccess = 1 << 3 | 2;
  constexpr char kRejected = 1 << 3;
  if (!absl::ConsumePrefix(&response, absl::string_view(&kPartialSuccess, 1))) return 0;
  if (!TakeVarint(response).has_value()) return 0;
  if (!absl::ConsumePrefix(&response, absl::string_view(&kRejected, 1))) return 0;
  const auto rejected = static_cast<int64_t>(TakeVarint(response).value_or(0));
  return std::max<int64_t>(rejected, 0);
}

}  // namespace callslip
