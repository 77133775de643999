#ifndef CALLSLIP_COMMON_LIMITS_H_
#define CALLSLIP_COMMON_LIMITS_H_

#include "absl/time/time.h"

// What several programs agree on. Limits of one program are in its own *limits.h.
namespace callslip {

// The longest wait that a call can ask for: below the 60 s at which most MCP clients and HTTP
// intermediaries give up. gateway/timeouts.h shows how the deadlines around it nest.
inline constexpr absl::Duration kMaxWait = absl::Seconds(55);

// Values in one JSON text, nested ones included. A page's result has some ten thousand; each costs
// a hundred bytes of memory for the two or three that it may have in the text.
inline constexpr int kMaxJsonValues = 200'000;

}  // namespace callslip

#endif  // CALLSLIP_COMMON_LIMITS_H_
