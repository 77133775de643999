#pragma once

#include <memory>
#include <string>

#include "boost/asio/any_io_executor.hpp"
#include "gateway/tracker_client/tracker_client.h"
#include "gateway/tracker_client/watch_hub.h"

namespace callslip::gateway {

// Begins a watch on `hub`. The feed can outlive the hub; it has then ended.
std::unique_ptr<CommandFeed> BeginFeed(boost::asio::any_io_executor executor, WatchHub* hub,
                                       std::string client_id, std::string owner,
                                       v1::CommandFilter filter, bool only_changes);

}  // namespace callslip::gateway
