#ifndef CALLSLIP_COMMON_TRACE_CONTEXT_H_
#define CALLSLIP_COMMON_TRACE_CONTEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// What ties together what several programs log of one request: the `traceparent` of W3C Trace
// Context, "00-<32 hex: trace>-<16 hex: parent>-<2 hex: flags>". Handed on as it came, unless a
// span is recorded (telemetry/active_span.h): then that is the parent of what follows.
//
// As its bytes, a third of the text, since a tracker may hold a million.
class TraceContext {
 public:
  // None.
  TraceContext() = default;

  // Nullopt for anything that is not exactly that: upper case, zeros where an id must be, version
  // ff. Of versions above 00 what follows the flags, as the standard asks, is left out.
  static std::optional<TraceContext> Parse(absl::string_view text);
  // A new trace, which is not sampled.
  static TraceContext New();
  // The one in `text`; a new one where there is none or it is malformed.
  static TraceContext ParseOrNew(absl::string_view text);

  bool empty() const { return *this == TraceContext(); }

  // The ids as bytes: 16 and 8 of them. They live as long as this.
  absl::string_view trace_id() const { return {AsChars(), kTraceBytes}; }
  absl::string_view span_id() const { return {AsChars() + kTraceBytes, kSpanBytes}; }
  uint8_t flags() const { return bytes_.back(); }
  // Whether whoever has begun the trace wants it recorded.
  bool sampled() const { return (flags() & kSampled) != 0; }

  // The same trace with the span of that id, which is not 0, as the parent.
  TraceContext WithSpan(uint64_t id) const;
  TraceContext WithSampled(bool sampled) const;

  // Empty where there is none. Always of version 00.
  std::string ToString() const;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;

 private:
  static constexpr size_t kTraceBytes = 16;
  static constexpr size_t kSpanBytes = 8;
  static constexpr uint8_t kSampled = 1;

  const char* AsChars() const { return reinterpret_cast<const char*>(bytes_.data()); }

  std::array<uint8_t, kTraceBytes + kSpanBytes + 1> bytes_{};  // Trace, parent, flags.
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_TRACE_CONTEXT_H_
