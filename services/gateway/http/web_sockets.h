#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "gateway/http/byte_budget.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/transport.h"
#include "gateway/http/web_socket.h"

namespace callslip::gateway {

class WebSocketConnection;  // Private to web_sockets.cc.

// The WebSockets of one HttpServer, on Boost.Beast. Used on its executor.
class WebSockets : public std::enable_shared_from_this<WebSockets> {
 public:
  // Messages that peers have sent and no server has read count against `unread`; data that peers
  // have not accepted counts against `unsent`.
  WebSockets(const WebSocketLimits& limits, std::shared_ptr<ByteBudget> unread,
             std::shared_ptr<ByteBudget> unsent)
      : limits_(limits), unread_(std::move(unread)), unsent_(std::move(unsent)) {}

  // Answers the request on `transport` with 101, and serves the peer until both it and its server
  // are done. No operation may be in progress on the transport. Ends with `credential`, if set; see
  // Expel().
  void Serve(Transport transport, std::shared_ptr<const WebSocketUpgrade> upgrade,
             CredentialPtr credential);

  size_t size() const { return open_.size(); }

  // Closes, with kPolicyViolation, the sockets whose credentials have ended.
  void Expel(absl::Time now);

  // Closes all WebSockets, and all later ones, with kGoingAway; calls `when_changed` whenever one
  // has ended.
  void Drain(std::function<void()> when_changed);

 private:
  friend class WebSocketConnection;

  void Remove(WebSocketConnection* connection);

  const WebSocketLimits limits_;
  const std::shared_ptr<ByteBudget> unread_;
  const std::shared_ptr<ByteBudget> unsent_;
  absl::flat_hash_set<WebSocketConnection*> open_;
  bool draining_ = false;
  std::function<void()> when_changed_;
};

}  // namespace callslip::gateway
