#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/limits.h"

namespace callslip::gateway {

// What one peer may use over a WebSocket. WebSockets count as connections.
struct WebSocketLimits {
  // A message from the peer: a request in JSON.
  size_t message_bytes = 64 << 10;
  // Messages from the peer that the server has not read yet.
  size_t unread_bytes = 256 << 10;
  // Messages to the peer that the kernel has not accepted yet.
  size_t unsent_bytes = 1 << 20;
  // A silent peer gets a ping after this time, and is disconnected if it stays silent for as long
  // again. Below the minute after which proxies close idle connections.
  std::chrono::milliseconds ping_interval{30'000};
  // For the peer to send queued data and complete the closing handshake. Within the gateway's grace
  // period when it stops, 2 s by default.
  std::chrono::milliseconds close_time{1500};
};

// Maximum body sizes, by purpose.
//
// A request that carries no data.
inline constexpr uint64_t kNoBodyBytes = 64 << 10;
// The largest params, as JSON.
inline constexpr uint64_t kMcpBodyBytes = 2 * kMaxParamsBytes;
inline constexpr uint64_t kUsualBodyBytes = 4 << 20;
// An image of a session, as raw bytes.
inline constexpr uint64_t kImageBodyBytes = 10 << 20;
// The largest result, or a thousand events, with the JSON around it.
inline constexpr uint64_t kLargestBodyBytes = kMaxResultBytes + (4 << 20);

// What one peer may use of the listener.
struct HttpLimits {
  // Request line and headers together. A browser sends the cookies of all ports of its host, each
  // up to 4 KiB.
  uint32_t header_bytes = 32 << 10;
  // Agents and browsers send about twenty.
  int header_count = 100;
  // For routes without a limit of their own.
  uint64_t body_bytes = kLargestBodyBytes;
  // For all bodies that do not arrive at once with their heads, from then to the end of their
  // requests: two of the largest, and smaller ones. Each is in memory up to three times: as
  // received, or what is parsed from it; as a message; and as gRPC's bytes.
  uint64_t all_bodies_bytes = 32 << 20;
  // The part for one caller, so that no caller blocks the others: two of the largest. The same
  // amount for all requests whose signatures are not verified yet.
  uint64_t bodies_of_caller_bytes = 24 << 20;
  // In addition, for unauthenticated clients: logins, of 8 KiB at most, and incomplete heads. The
  // one that has been in transit longest is evicted for the next.
  uint64_t strangers_bodies_bytes = 1 << 20;
  // For responses, and pieces of streams, that the kernel did not accept at once because their
  // peers read slowly or not at all. A connection that would exceed it is closed.
  uint64_t all_unsent_bytes = 24 << 20;
  uint64_t unsent_of_caller_bytes = 16 << 20;
  // 10,000 held waits and room for everything else. When all are in use, a new connection replaces
  // the one that has been idle longest if more are idle than have unknown callers, else the one
  // that has been sending a request of an unknown caller longest.
  int connections = 16'384;
  // The part for one address of another machine (or one IPv6 /64), so that the rest is left for
  // others. Proxies have many clients behind one address.
  int connections_of_address = 4096;
  // Connections in their TLS handshakes. The oldest one is closed for the next: a handshake takes
  // some ms and round trips.
  size_t handshakes = 512;
  std::chrono::seconds handshake_time{10};
  // A kept-alive connection without a request. Longer than the 60 s that most clients keep theirs.
  std::chrono::seconds idle{75};
  // From the first byte of a request to the end of its headers; for the first request of a
  // connection, from when it opened.
  std::chrono::seconds header_time{10};
  // For the whole body: 12 MiB in this time is a modem's speed.
  std::chrono::seconds body_time{60};
  // The same for an unknown sender, whose body is a packet.
  std::chrono::seconds strangers_body_time{5};
  // For a whole response, or each piece of a streamed one, to a peer that reads slowly.
  std::chrono::seconds write_time{30};
  // For a peer that was refused to receive the reason.
  std::chrono::seconds linger_time{2};
  WebSocketLimits web_socket;
};

}  // namespace callslip::gateway
