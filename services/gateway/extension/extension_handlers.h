#pragma once

#include <memory>

#include "boost/asio/awaitable.hpp"
#include "gateway/files/file_store.h"
#include "gateway/http/http_message.h"
#include "gateway/tracker_client/tracker_client.h"

// The polling protocol of the browser extension. Reference: docs/workers.md.
namespace callslip::gateway {

// GET /pending-queries[?wait=SECONDS][&back_within=SECONDS][&target=NAME][&worker=NAME][&cancels=1]
// [&known=ID,…&known_for=SECONDS]: leases commands to the caller and, if cancels=1, reports which
// commands to stop.
boost::asio::awaitable<HttpResponse> HandlePendingQueries(
    TrackerClient* tracker, std::shared_ptr<const HttpRequest> request);

// POST /query-result: receives an acknowledgement, progress or the result of one command.
boost::asio::awaitable<HttpResponse> HandleQueryResult(TrackerClient* tracker,
                                                       std::shared_ptr<const HttpRequest> request);

// POST /draw-mode/complete: receives a user's drawing on a page.
boost::asio::awaitable<HttpResponse> HandleDrawMode(TrackerClient* tracker,
                                                    std::shared_ptr<const HttpRequest> request);

// POST /worker-status: receives a worker's report about itself.
boost::asio::awaitable<HttpResponse> HandleWorkerStatus(TrackerClient* tracker,
                                                        std::shared_ptr<const HttpRequest> request);

// GET /files/{id}[?offset=BYTES]: a part of a file that an `upload` names.
boost::asio::awaitable<HttpResponse> HandleFile(FileStore* files,
                                                std::shared_ptr<const HttpRequest> request);

}  // namespace callslip::gateway
