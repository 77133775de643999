#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_SERVER_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "common/address.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/responder.h"
#include "gateway/http/trusted_proxies.h"
#include "tls/server_tls.h"

namespace callslip::gateway {

// An HTTP/1.1 listener on Boost.Beast, whose headers stay behind this interface. Enforces
// HttpLimits, answers what is no HTTP with 400, 413 or 431, and knows nothing of routes.
//
// Runs on an executor that runs one function at a time.
class HttpServer {
 public:
  // The executor's io_context must outlive the server, and must have been stopped before its
  // destruction. `judge` is asked of each request whose body is still to come. Null: all are read.
  HttpServer(const boost::asio::any_io_executor& executor, const HttpLimits& limits,
             RespondingHandler handler, HeadJudge judge = nullptr);
  HttpServer(const boost::asio::any_io_executor& executor, const HttpLimits& limits,
             HttpHandler handler)
      : HttpServer(executor, limits, Spawning(std::move(handler))) {}
  ~HttpServer();

  // Whose word for whom they ask is taken (HttpRequest::address). Before Listen().
  void Trust(TrustedProxies proxies);

  // Starts to accept; returns the address with the port that was bound. Errors as for
  // Listener::Open(). May be called for several addresses, each with TLS or without; `tls` is used
  // from the server's executor. Requests that come by it say so (HttpRequest::listener).
  absl::StatusOr<Address> Listen(const Address& address,
                                 std::shared_ptr<const ServerTls> tls = nullptr,
                                 size_t listener = 0);

  // From now on closes each connection after the answer that is due; accepts new ones. On the
  // executor.
  void CloseAfterAnswers();

  // Accepts no further connections, closes each after the answer that is due and each WebSocket at
  // once, and calls `when_idle` on the executor once no request is under way and no
  // WebSocket open.
  void Drain(std::function<void()> when_idle);

  // Open connections that are no WebSockets, and those that are. On the executor.
  int64_t connections() const;
  int64_t web_sockets() const;
  // What of HttpLimits is taken.
  int64_t body_bytes() const;
  int64_t unsent_bytes() const;

  struct State;  // Private to http_server.cc.

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_SERVER_H_
