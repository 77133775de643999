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
class PendingQueriesHandler {
 public:
  explicit PendingQueriesHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// POST /query-result: receives an acknowledgement, progress or the result of one command.
class QueryResultHandler {
 public:
  explicit QueryResultHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// POST /draw-mode/complete: receives a user's drawing on a page.
class DrawModeHandler {
 public:
  explicit DrawModeHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// POST /worker-status: receives a worker's report about itself.
class WorkerStatusHandler {
 public:
  explicit WorkerStatusHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// GET /files/{id}[?offset=BYTES]: a part of a file that an `upload` names.
class FileHandler {
 public:
  explicit FileHandler(FileStore* files) : files_(files) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  FileStore* const files_;
};

}  // namespace callslip::gateway
