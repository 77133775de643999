#ifndef CALLSLIP_COMMON_TRACE_COMPANIONS_H_
#define CALLSLIP_COMMON_TRACE_COMPANIONS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// What travels beside a `traceparent`, handed on and otherwise of no effect: `tracestate` of W3C
// Trace Context, and `baggage` of W3C Baggage. Both have passed the functions below, and are fit
// for a header and for gRPC's metadata: they consist of printable characters of ASCII.
struct TraceCompanions {
  std::string tracestate;
  std::string baggage;

  bool empty() const { return tracestate.empty() && baggage.empty(); }
  friend bool operator==(const TraceCompanions&, const TraceCompanions&) = default;
};

// As long as those are that everybody has to hand on.
inline constexpr size_t kMaxTracestateBytes = 512;
inline constexpr size_t kMaxBaggageBytes = 8192;

// `tracestate` as it is to be handed on beside a valid `traceparent`: as it came, with spaces for
// tabs; without the members that are too much where it is longer than kMaxTracestateBytes. Empty
// where it is malformed or has more than 32 members, the most that there may be.
std::string TracestateOf(absl::string_view tracestate);

// `baggage` as it is to be handed on: as it came, with spaces for tabs; without those of its last
// members that are too much where it has more than 180, the most that there may be, or is longer
// than kMaxBaggageBytes. Empty where it is malformed.
std::string BaggageOf(absl::string_view baggage);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_TRACE_COMPANIONS_H_
