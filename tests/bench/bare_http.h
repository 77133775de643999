#pragma once

#include <functional>
#include <string>

#include "bench/child_process.h"
#include "boost/asio/awaitable.hpp"

namespace callslip::bench {

// Answers the body of a request to `path` with a body.
using BareHandler =
    std::function<boost::asio::awaitable<std::string>(std::string path, std::string body)>;

// The floor for every HTTP server here: Beast reads a request, the handler answers it, Beast
// writes. One thread; no timeouts, no limits of its own, no detection of a closed connection. Runs
// in a child process, for ever.
void ServeBareHttp(const ParentLink& parent, const BareHandler& handler);

}  // namespace callslip::bench
