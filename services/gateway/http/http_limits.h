#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace callslip::gateway {

// What one peer may cost the listener.
struct HttpLimits {
  // Request line and headers together; browsers stay below 8 KiB.
  uint32_t header_bytes = 16 << 10;
  // Agents and browsers send some twenty.
  int header_count = 100;
  // The largest result that the tracker takes (8 MiB) with its JSON around it.
  uint64_t body_bytes = 12 << 20;
  // 10,000 held waits and room for everything else.
  int connections = 16'384;
  // A kept-alive connection without a request. Above the 60 s that most clients keep theirs.
  std::chrono::seconds idle{75};
  // From the first byte of a request to the end of its headers.
  std::chrono::seconds header_time{10};
  // For the whole body: 12 MiB in it is a modem's pace.
  std::chrono::seconds body_time{60};
  // For the whole response, or for each piece of one that is streamed, to a peer that reads slowly.
  std::chrono::seconds write_time{30};
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_
