#pragma once

#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "gateway/http/http_message.h"
#include "gateway/tracker_access.h"

namespace callslip::gateway {

// GET /healthz: 200 while the process responds. Lists the addresses of --listen that another
// process uses, if any.
boost::asio::awaitable<HttpResponse> HandleHealth(std::vector<std::string> cannot_listen);

// GET /readyz: 200 while the tracker accepts this gateway's calls and the gateway is not about to
// stop, otherwise 503 with what to do.
boost::asio::awaitable<HttpResponse> HandleReadiness(TrackerAccess* tracker, bool is_leaving);

}  // namespace callslip::gateway
