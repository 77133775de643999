#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/http/abort_switch.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/session_keeper.h"
#include "common/clock.h"

namespace callslip::bridge {

// Delivers a message to the gateway in spite of restarts and lost connections. Thread-safe; a
// delivery blocks its thread.
//
// A message is sent once, and sent again only if that is harmless:
//   - no part of it was sent (no connection): until kConnectPatience is over;
//   - it was refused because of its session or its token, or answered by a server that does not
//     know the token, and there is a new session or token: immediately;
//   - its effect is unknown (the connection broke, the stream ended early), but it carries a
//     request_id or only reads: until its deadline.
// Between two attempts it backs off, from kFirstBackoff to kMaxBackoff.
class RetryingSender {
 public:
  struct Delivery {
    const Message* message;
    absl::Time received;
    absl::Duration timeout;
    // Whether the timeout counts from the last message about the call.
    bool counts_from_last_sign = false;
    AbortSwitch* abort;  // Also aborts at the deadline.
    GatewayClient::EventSink on_event;
    // Complete lines for the request's head, or empty.
    absl::string_view header = "";
  };

  // Both must outlive the sender.
  RetryingSender(Clock* clock, GatewayClient* gateway, SessionKeeper* session)
      : clock_(clock), gateway_(gateway), session_(session) {}

  // The outcome of the last attempt that says something about the message: kNotSent means that no
  // attempt was sent.
  Exchange Deliver(const Delivery& delivery) const;

 private:
  class Attempts;

  Clock* const clock_;
  GatewayClient* const gateway_;
  SessionKeeper* const session_;
};

}  // namespace callslip::bridge
