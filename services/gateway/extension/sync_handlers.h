#pragma once

#include <memory>

#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/extension/browser_log.h"
#include "gateway/http/http_message.h"
#include "gateway/tracker_client/tracker_client.h"

// The protocol of the KaBOOM and Gasoline extensions from 6.0 on. Reference: docs/sync.md.
namespace callslip::gateway {

// POST /sync: receives results and heartbeats, and leases commands to the caller.
boost::asio::awaitable<HttpResponse> HandleSync(TrackerClient* tracker, Clock* clock,
                                                std::shared_ptr<const HttpRequest> request);

// GET /health: whether such an extension is connected; its badge shows this.
boost::asio::awaitable<HttpResponse> HandleSyncHealth(TrackerClient* tracker,
                                                      std::shared_ptr<const HttpRequest> request);

// POST to one of BrowserLogPaths(): stores log entries of the browser.
boost::asio::awaitable<HttpResponse> HandleBrowserLog(TrackerClient* tracker, BrowserLogPath path,
                                                      std::shared_ptr<const HttpRequest> request);

// POST /screenshots: the image that a screenshot command requested.
boost::asio::awaitable<HttpResponse> HandleScreenshots(TrackerClient* tracker,
                                                       std::shared_ptr<const HttpRequest> request);

}  // namespace callslip::gateway
