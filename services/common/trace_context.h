#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// Correlates the logs of several programs for one request: the `traceparent` of W3C Trace Context,
// "00-<32 hex: trace>-<16 hex: parent>-<2 hex: flags>". Forwarded unchanged, unless a span is
// recorded (telemetry/active_span.h): then that span becomes the parent of later work.
//
// Stored as bytes, a third of the text's size, because a tracker can hold a million.
class TraceContext {
 public:
  // No trace.
  TraceContext() = default;

  // Nullopt for anything malformed, including upper case, an all-zero id and version ff. For
  // versions above 00 everything after the flags is omitted, as the standard requires, and flags
  // that version 00 does not know are cleared.
  static std::optional<TraceContext> Parse(absl::string_view text);
  // A new trace, which is not sampled.
  static TraceContext New();

  bool empty() const { return *this == TraceContext(); }

  // The ids as 16 and 8 bytes. Valid as long as this.
  absl::string_view trace_id() const { return {AsChars(), kTraceBytes}; }
  absl::string_view span_id() const { return {AsChars() + kTraceBytes, kSpanBytes}; }
  uint8_t flags() const { return bytes_.back(); }
  // Whether the originator of the trace wants it recorded.
  bool sampled() const { return (flags() & kSampled) != 0; }

  // The same trace with the span `id` as the parent. `id` must not be 0.
  TraceContext WithSpan(uint64_t id) const;
  TraceContext WithSampled(bool sampled) const;

  // The `traceparent`, always of version 00. Empty if there is no trace.
  std::string ToString() const;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;

 private:
  static constexpr size_t kTraceBytes = 16;
  static constexpr size_t kSpanBytes = 8;
  static constexpr uint8_t kSampled = 1;
  static constexpr uint8_t kKnownFlags = kSampled | 2;  // 2: the trace id is random.

  const char* AsChars() const { return reinterpret_cast<const char*>(bytes_.data()); }

  std::array<uint8_t, kTraceBytes + kSpanBytes + 1> bytes_{};  // Trace, parent, flags.
};

}  // namespace callslip
