#ifndef CALLSLIP_COMMON_TRACE_CONTEXT_H_
#define CALLSLIP_COMMON_TRACE_CONTEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// What ties together what several programs log of one request: the `traceparent` of W3C Trace
// Context, "00-<32 hex: trace>-<16 hex: parent>-<2 hex: flags>". We hand it on as it came: none of
// our programs records spans of its own.
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
  // Empty where there is none. Always of version 00.
  std::string ToString() const;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;

 private:
  std::array<uint8_t, 25> bytes_{};  // Trace, parent, flags.
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_TRACE_CONTEXT_H_
