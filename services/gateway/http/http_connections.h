#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "gateway/http/byte_budget.h"
#include "gateway/http/http_codec.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/responder.h"
#include "gateway/http/transport.h"
#include "gateway/http/trusted_proxies.h"
#include "gateway/http/web_sockets.h"

namespace callslip::gateway {

class Connection;  // Private to http_connections.cc.

// The connections of one HttpServer and their shared state. Use on its executor.
class Connections : public std::enable_shared_from_this<Connections> {
 public:
  Connections(const boost::asio::any_io_executor& executor, const HttpLimits& limits,
              RespondingHandler handler, HeadJudge judge);

  // Serves a peer until either side closes. If too many connections are in their handshakes, closes
  // the one that has been for the longest time. `listener` is the listener that accepted the
  // connection.
  void Serve(Transport transport, size_t listener);

  void Trust(TrustedProxies proxies) { proxies_ = std::move(proxies); }

  // Evicts the connection that has been idle longest if more are idle than have unknown callers,
  // else the one that has had an unknown caller longest. False if all are busy.
  bool MakeRoom();

  int64_t connections() const { return static_cast<int64_t>(open_.size()); }
  int64_t web_sockets() const { return static_cast<int64_t>(web_sockets_->size()); }
  int64_t body_bytes() const {
    return static_cast<int64_t>(bodies_->taken() + strangers_bodies_->taken());
  }
  int64_t unsent_bytes() const { return static_cast<int64_t>(unsent_->taken()); }
  bool IsFull() const { return connections() - evicted_ + web_sockets() >= limits_.connections; }

  // From now on.
  void CloseAfterAnswers() { close_after_answers_ = true; }

  // Closes each connection after its pending response, and each WebSocket at once. Calls
  // `when_idle` when no request is in progress and no WebSocket is open.
  void Drain(std::function<void()> when_idle);

 private:
  friend class Connection;

  // Ends the connection whose body has been in transit longest, among those on `account` with
  // unknown callers. False if there is none except `next`.
  bool EndLongestBody(BodyAccount account, const Connection* next);
  void StartTicking();
  void Tick();
  void TellIfIdle();

  // Warns once about a proxy on this machine that is not trusted: all people behind it count as one
  // address.
  void WarnOfProxy();

  const boost::asio::any_io_executor executor_;
  const HttpLimits limits_;
  const RespondingHandler handler_;
  const HeadJudge judge_;  // May be null.
  TrustedProxies proxies_;
  bool has_warned_of_proxy_ = false;
  const std::shared_ptr<ByteBudget> bodies_;
  const std::shared_ptr<ByteBudget> strangers_bodies_;
  const std::shared_ptr<ByteBudget> unsent_;
  // Connections that were upgraded; they are no longer in `open_`.
  const std::shared_ptr<WebSockets> web_sockets_;
  // One timer for all deadlines, which runs while there are connections: a timer per connection
  // would cost memory, and would cost time at each step of a request.
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  int64_t now_ = 0;  // In ticks.
  std::vector<Connection*> open_;
  // Each connection is also in one of these, in order of arrival there.
  std::list<Connection*> at_handshake_;
  std::list<Connection*> idle_;     // Before the first byte of a request.
  std::list<Connection*> unknown_;  // With a request, or part of one, whose caller is not accepted
                                    // yet; or after a handshake that failed.
  std::list<Connection*> busy_;
  // The bytes that a connection has just read and processes at once.
  std::array<char, RequestParser::kMaxReadBytes> read_buffer_;
  int64_t evicted_ = 0;  // Open connections that are about to close.
  int requests_ = 0;     // Between the end of their headers and the end of their response.
  bool close_after_answers_ = false;
  std::function<void()> when_idle_;  // Called once, while draining.
};

}  // namespace callslip::gateway
