#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// Checks whether the tracker accepts this gateway's calls and lets it act for its callers. Over TCP
// the tracker may know the gateway by a different token than the gateway assumes, or as `local`,
// and would then refuse each call. Use on the loop.
class TrackerAccess {
 public:
  // `has_names`: callers must authenticate, so that they are not all `local`.
  TrackerAccess(TrackerClient* tracker, bool has_names);

  // Makes a read-only call on behalf of a client. Returns OK, the tracker's error, or UNAVAILABLE,
  // reason `tracker_refuses_gateway`, with what to do. Logs when that refusal begins and ends. Any
  // caller can trigger a check: callers that come while one is running get its result.
  boost::asio::awaitable<absl::Status> Look();

  // Checks repeatedly, so that the log reports a refusal even if no caller asks. Ends when
  // `is_over` is true.
  boost::asio::awaitable<void> Watch(const bool* is_over);

 private:
  // A running check that others can wait for.
  struct Looking;

  boost::asio::awaitable<absl::Status> Ask();
  void Note(const absl::Status& refused);

  TrackerClient* const tracker_;
  const std::string client_id_;
  std::weak_ptr<Looking> looking_;  // The running check holds it.
  std::string refused_for_;         // Empty: accepted, as far as is known.
};

}  // namespace callslip::gateway
