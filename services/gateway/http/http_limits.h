#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace callslip::gateway {

// What one peer may cost over a WebSocket. Sockets count among the connections.
struct WebSocketLimits {
  // A message from the peer: a request in JSON.
  size_t message_bytes = 64 << 10;
  // Messages from the peer that nobody has read yet.
  size_t unread_bytes = 256 << 10;
  // Messages to the peer that the kernel has not taken yet.
  size_t unsent_bytes = 1 << 20;
  // A silent peer is sent a ping after this time, and cut off where it stays silent for as long
  // again. Below the minute after which proxies close what is idle.
  std::chrono::milliseconds ping_interval{30'000};
  // For the peer's part in closing, with what was queued before. Within the gateway's grace when
  // it stops, which is 2 s by default.
  std::chrono::milliseconds close_time{1500};
};

// How large a body may be, by what it is for.
//
// A request that carries nothing.
inline constexpr uint64_t kNoBodyBytes = 64 << 10;
// The largest params that the tracker takes (1 MiB), as JSON.
inline constexpr uint64_t kMcpBodyBytes = 2 << 20;
inline constexpr uint64_t kUsualBodyBytes = 4 << 20;
// An image of a session, as it is.
inline constexpr uint64_t kImageBodyBytes = 10 << 20;
// The largest result that the tracker takes (8 MiB), or a thousand events, with the JSON around it.
inline constexpr uint64_t kLargestBodyBytes = 12 << 20;

// What one peer may cost the listener.
struct HttpLimits {
  // Request line and headers together. A browser sends the cookies of all ports of its host, each
  // of up to 4 KiB.
  uint32_t header_bytes = 32 << 10;
  // Agents and browsers send some twenty.
  int header_count = 100;
  // Where the route of a request has no limit of its own.
  uint64_t body_bytes = kLargestBodyBytes;
  // Of all bodies that do not come at once with their heads, from there to the end of their
  // requests: two of the largest, and smaller ones. There are up to three of each at a time: as it
  // came, and what is made of it; as a message, and as bytes of gRPC's.
  uint64_t all_bodies_bytes = 32 << 20;
  // Of these, for one caller, so that nobody fills them for the others: two of the largest. As much
  // for all requests whose signatures are yet to be judged.
  uint64_t bodies_of_caller_bytes = 24 << 20;
  // Besides those, of strangers: logins, of 8 KiB at the most, and heads
  // that have not come whole. The one that has been on its way for
  // longest makes room for the next.
  uint64_t strangers_bodies_bytes = 1 << 20;
  // Of answers, and of pieces of streams, that the kernel has not taken at once, since their peers
  // read slowly or not at all. Beyond it a connection is cut off.
  uint64_t all_unsent_bytes = 24 << 20;
  uint64_t unsent_of_caller_bytes = 16 << 20;
  // 10,000 held waits and room for everything else. When all places are taken, whoever comes gets
  // that of the connection that has been idle for longest, or else of the one that has been sending
  // a request for longest without its being known from whom.
  int connections = 16'384;
  // Of these, for one address of another machine (or one /64 of IPv6); the rest is for others.
  // Proxies have many clients behind one address.
  int connections_of_address = 4096;
  // At their handshakes, where there is TLS. The one that has been so for longest makes room for
  // the next: a handshake takes some ms and round trips.
  size_t handshakes = 512;
  std::chrono::seconds handshake_time{10};
  // A kept-alive connection without a request. Above the 60 s that most clients keep theirs.
  std::chrono::seconds idle{75};
  // From the first byte of a request to the end of its headers; for the first request of a
  // connection, from its beginning.
  std::chrono::seconds header_time{10};
  // For the whole body: 12 MiB in it is a modem's pace.
  std::chrono::seconds body_time{60};
  // The same where whoever sends it is not known: it is a packet.
  std::chrono::seconds strangers_body_time{5};
  // For the whole response, or for each piece of one that is streamed, to a peer that reads slowly.
  std::chrono::seconds write_time{30};
  WebSocketLimits web_socket;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_LIMITS_H_
