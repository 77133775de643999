#pragma once

#include <memory>

#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/extension/browser_log.h"
#include "gateway/extension/sync_request.h"
#include "gateway/http/http_message.h"
#include "gateway/tracker_client/tracker_client.h"

// The protocol of the KaBOOM and Gasoline extensions from 6.0 on. Reference: docs/sync.md.
namespace callslip::gateway {

// POST /sync: receives results and heartbeats, and leases commands to the caller.
class SyncHandler {
 public:
  SyncHandler(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  // Fails only if the tracker is unreachable: the caller then sends everything again, which is
  // harmless.
  // Moves the results out of `sync`.
  boost::asio::awaitable<absl::Status> TakeReports(const Principal& principal,
                                                   SyncRequest& sync) const;
  boost::asio::awaitable<absl::Status> Complete(v1::CompleteCommandRequest result) const;
  // Leases the commands for the caller, in its own format. Ends those that the format cannot
  // express.
  boost::asio::awaitable<absl::StatusOr<Json>> TakeCommands(const SyncRequest& sync) const;
  // Whether the command may be handed out. Acknowledges it for a caller that is silent during
  // execution.
  boost::asio::awaitable<absl::StatusOr<bool>> HandOut(const v1::CommandLease& lease,
                                                       const SyncRequest& sync) const;

  TrackerClient* const tracker_;
  Clock* const clock_;
};

// GET /health: whether such an extension is connected; its badge shows this.
class SyncHealthHandler {
 public:
  explicit SyncHealthHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// POST to one of BrowserLogPaths(): stores log entries of the browser.
class BrowserLogHandler {
 public:
  BrowserLogHandler(TrackerClient* tracker, const BrowserLogPath& path)
      : tracker_(tracker), path_(path) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
  const BrowserLogPath path_;
};

// POST /screenshots: the image that a screenshot command requested.
class ScreenshotsHandler {
 public:
  explicit ScreenshotsHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

}  // namespace callslip::gateway
