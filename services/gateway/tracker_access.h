#ifndef CALLSLIP_GATEWAY_TRACKER_ACCESS_H_
#define CALLSLIP_GATEWAY_TRACKER_ACCESS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// Whether the tracker answers this gateway, and lets it speak for its callers: over TCP it may know
// the gateway by another token than the gateway thinks, or as `local`, and would refuse each call.
// Used on the loop.
class TrackerAccess {
 public:
  // `has_names`: callers have to show who they are, so that they are not all `local`.
  TrackerAccess(TrackerClient* tracker, bool has_names);

  // Asks for something that changes nothing, on behalf of somebody. OK, the tracker's error, or
  // UNAVAILABLE, reason `tracker_refuses_gateway`, with what to do. Logs when that one begins and
  // ends. Anybody may make it look: those who do while it looks are told what that finds.
  boost::asio::awaitable<absl::Status> Look();

  // Looks from now on, so that the log tells of it though nobody asks. Ends when `is_over` says so.
  boost::asio::awaitable<void> Watch(const bool* is_over);

 private:
  // One that looks, for others to wait for.
  struct Looking;

  boost::asio::awaitable<absl::Status> Ask();
  void Note(const absl::Status& refused);

  TrackerClient* const tracker_;
  const std::string client_id_;
  std::weak_ptr<Looking> looking_;  // Who looks holds it.
  std::string refused_for_;         // Empty: it is let in, as far as is known.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_ACCESS_H_
