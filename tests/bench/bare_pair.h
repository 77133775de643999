#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/child_process.h"

// The floors for a tool call: the cost of moving its bytes without reading them. Both answer every
// request with a body of `body_bytes`, in a child process, for ever.
namespace callslip::bench {

// Only a Beast server.
void ServeFixedBody(const ParentLink& parent, size_t body_bytes);

// A Beast server that makes one call to ServeWithQueue() at `rpc_port` for each request, through a
// completion queue with a thread of its own, as the gateway does.
void ServeBarePair(const ParentLink& parent, size_t body_bytes, uint16_t rpc_port);

}  // namespace callslip::bench
