#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// The headers that accompany a `traceparent` and are only forwarded: `tracestate` of W3C Trace
// Context, and `baggage` of W3C Baggage. Both have passed the functions below, so they consist of
// printable ASCII and are valid as HTTP headers and as gRPC metadata.
struct TraceCompanions {
  std::string tracestate;
  std::string baggage;

  bool empty() const { return tracestate.empty() && baggage.empty(); }
  friend bool operator==(const TraceCompanions&, const TraceCompanions&) = default;
};

// The lengths that the standards require everyone to forward.
inline constexpr size_t kMaxTracestateBytes = 512;
inline constexpr size_t kMaxBaggageBytes = 8192;

// The `tracestate` to forward next to a valid `traceparent`: unchanged except that tabs become
// spaces, and that surplus members are dropped if it is longer than kMaxTracestateBytes. Empty if
// it is malformed or has more than 32 members, the allowed maximum.
std::string TracestateOf(absl::string_view tracestate);

// The `baggage` to forward: unchanged except that tabs become spaces, and that its last members are
// dropped if it has more than 180, the allowed maximum, or is longer than kMaxBaggageBytes. Empty
// if it is malformed.
std::string BaggageOf(absl::string_view baggage);

}  // namespace callslip
