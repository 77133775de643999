#ifndef CALLSLIP_GATEWAY_EXTENSION_SYNC_HANDLERS_H_
#define CALLSLIP_GATEWAY_EXTENSION_SYNC_HANDLERS_H_

#include <memory>

#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/extension/browser_log.h"
#include "gateway/extension/sync_request.h"
#include "gateway/http/http_message.h"
#include "gateway/tracker_client/tracker_client.h"

// The protocol of the KaBOOM and Gasoline extensions from 6.0 on. Reference: docs/sync.md.
namespace callslip::gateway {

// POST /sync: takes what has ended and what goes on, and leases commands to the caller.
class SyncHandler {
 public:
  SyncHandler(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  // Each is an error only where the tracker was not reached: the caller then sends all of it again,
  // which does no harm.
  boost::asio::awaitable<absl::Status> TakeReports(const Principal& principal,
                                                   const SyncRequest& sync) const;
  boost::asio::awaitable<absl::Status> Complete(v1::CompleteCommandRequest result) const;
  // The commands that the caller is to execute, in its own words. Ends those that it has no words
  // for.
  boost::asio::awaitable<absl::StatusOr<Json>> TakeCommands(const SyncRequest& sync) const;
  // Whether the command may be handed out: where the caller is silent while it executes, this is
  // its acknowledgement.
  boost::asio::awaitable<absl::StatusOr<bool>> HandOut(const v1::CommandLease& lease,
                                                       const SyncRequest& sync) const;

  TrackerClient* const tracker_;
  Clock* const clock_;
};

// GET /health: whether such an extension is connected, which is what its badge shows.
class SyncHealthHandler {
 public:
  explicit SyncHealthHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

// POST to one of BrowserLogPaths(): keeps what the browser has seen.
class BrowserLogHandler {
 public:
  BrowserLogHandler(TrackerClient* tracker, const BrowserLogPath& path)
      : tracker_(tracker), path_(path) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
  const BrowserLogPath path_;
};

// POST /screenshots: the image that a screenshot command asked for.
class ScreenshotsHandler {
 public:
  explicit ScreenshotsHandler(TrackerClient* tracker) : tracker_(tracker) {}
  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  TrackerClient* const tracker_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_EXTENSION_SYNC_HANDLERS_H_
