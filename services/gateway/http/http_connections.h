#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_CONNECTIONS_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_CONNECTIONS_H_

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

// The connections of one HttpServer, and what they share. Used on its executor.
class Connections : public std::enable_shared_from_this<Connections> {
 public:
  Connections(const boost::asio::any_io_executor& executor, const HttpLimits& limits,
              RespondingHandler handler, HeadJudge judge);

  // Serves a peer until either side closes. Of too many that are still at their handshakes, the
  // one that has been so for longest is closed.
  // `listener` is by which one it came.
  void Serve(Transport transport, size_t listener);

  void Trust(TrustedProxies proxies) { proxies_ = std::move(proxies); }

  // Closes the one that has been without a request for longest, or where there are more of those
  // whose callers are not known, the one of these that has been so for longest. False where all are
  // busy.
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

  // Closes each connection after the answer that is due and each WebSocket at once, and calls
  // `when_idle` once no request is under way and no WebSocket open.
  void Drain(std::function<void()> when_idle);

 private:
  friend class Connection;

  // Ends the one whose body has been on its way for longest, of those on `account` whose callers
  // are not known. False where there is none but `next`.
  bool EndLongestBody(BodyAccount account, const Connection* next);
  void StartTicking();
  void Tick();
  void TellIfIdle();

  // Once, of a proxy on this machine that is not trusted: an address is all people behind it.
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
  // Connections that were upgraded, and are no longer among the open ones here.
  const std::shared_ptr<WebSockets> web_sockets_;
  // All deadlines hang on this one timer, which runs while there are connections: a timer for each
  // would cost them memory, and every step of a request time.
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  int64_t now_ = 0;  // In ticks.
  std::vector<Connection*> open_;
  // Each of them is also in one of these, behind those that came there before.
  std::list<Connection*> at_handshake_;
  std::list<Connection*> idle_;     // Before the first byte of a request.
  std::list<Connection*> unknown_;  // A request came, or comes, of nobody who was let in as yet.
  std::list<Connection*> busy_;
  // What one of them has just read, and takes up at once.
  std::array<char, RequestParser::kMaxReadBytes> read_buffer_;
  int64_t evicted_ = 0;  // Of the open ones, those that are about to go.
  int requests_ = 0;     // Between the end of their headers and the end of their response.
  bool close_after_answers_ = false;
  std::function<void()> when_idle_;  // To be called once, while draining.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_CONNECTIONS_H_
