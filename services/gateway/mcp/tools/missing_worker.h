#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_MISSING_WORKER_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_MISSING_WORKER_H_

#include <string>

#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// What to do about a queued command for which no worker is there; empty where one is connected or
// at work, where the command is not queued, and where the tracker does not say.
boost::asio::awaitable<std::string> MissingWorkerHint(TrackerClient* tracker,
                                                      const v1::Command& command);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_MISSING_WORKER_H_
