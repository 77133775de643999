#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "common/address.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/responder.h"
#include "gateway/http/trusted_proxies.h"
#include "tls/server_tls.h"

namespace callslip::gateway {

// An HTTP/1.1 server on Boost.Beast, whose headers this interface hides. Enforces HttpLimits,
// responds to invalid HTTP with 400, 413, or 431, and knows nothing about routes.
//
// Runs on an executor that runs one function at a time.
class HttpServer {
 public:
  // The executor's io_context must outlive the server, and must have stopped before the server's
  // destruction. `judge` is called for each request whose body has not arrived yet. Null: all
  // bodies are read.
  HttpServer(const boost::asio::any_io_executor& executor, const HttpLimits& limits,
             RespondingHandler handler, HeadJudge judge = nullptr);
  ~HttpServer();

  // Sets the proxies whose information about their clients is trusted (HttpRequest::address). Call
  // before Listen().
  void Trust(TrustedProxies proxies);

  // Starts to accept; returns the address with the port that was bound. Errors as for
  // Listener::Open(). Can be called for several addresses, each with or without TLS; `tls` is used
  // on the server's executor. Requests over this listener carry `listener` (HttpRequest::listener).
  absl::StatusOr<Address> Listen(const Address& address,
                                 std::shared_ptr<const ServerTls> tls = nullptr,
                                 size_t listener = 0);

  // From now on closes each connection after its pending response; still accepts new ones. Call on
  // the executor.
  void CloseAfterAnswers();

  // Accepts no more connections, closes each after its pending response and each WebSocket at once,
  // and calls `when_idle` on the executor when no request is in progress and no WebSocket is open.
  void Drain(std::function<void()> when_idle);

  // Open connections that are not WebSockets, and those that are. Call on the executor.
  int64_t connections() const;
  int64_t web_sockets() const;
  // How much of HttpLimits is in use.
  int64_t body_bytes() const;
  int64_t unsent_bytes() const;

  struct State;  // Private to http_server.cc.

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace callslip::gateway
