#pragma once

#include <string>

#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// A hint for a queued command that has no worker; empty if a worker is connected or busy, if the
// command is not queued, or if the tracker does not respond.
boost::asio::awaitable<std::string> MissingWorkerHint(TrackerClient* tracker,
                                                      const v1::Command& command);

}  // namespace callslip::gateway
