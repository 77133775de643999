#ifndef CALLSLIP_TESTS_BENCH_HTTP_SERVERS_H_
#define CALLSLIP_TESTS_BENCH_HTTP_SERVERS_H_

#include <vector>

#include "bench/child_process.h"

namespace callslip::bench {

// What a server reports to the benchmark.
inline constexpr char kHeldEvent = 'h';      // A request to /hold has reached its handler.
inline constexpr char kPeerLeftEvent = 'l';  // The handler has learnt that its peer is gone.

// One way to serve the same two things over HTTP: POST /echo answers the request's body, and POST
// /hold is never answered.
struct HttpServerKind {
  const char* name;
  void (*serve)(const ParentLink& parent);
  // How many held requests are tried: each of cpp-httplib takes a thread.
  int held;
};

// The first one is the floor.
const std::vector<HttpServerKind>& HttpServerKinds();

// cpp-httplib once more: a held request is a response that has begun, whose content provider looks
// every 10 ms whether its sink is still writable. No other way to see a peer leave is offered.
void ServeHttplibStream(const ParentLink& parent);

}  // namespace callslip::bench

#endif  // CALLSLIP_TESTS_BENCH_HTTP_SERVERS_H_
