#include "gateway/http/http_server.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/log.h"
#include "gateway/http/http_connections.h"

namespace callslip::gateway {

namespace asio = boost::asio;
using asio::ip::tcp;

struct HttpServer::State {
  State(const asio::any_io_executor& runner, const HttpLimits& limits, RespondingHandler handler,
        Challenge challenge)
      : executor(runner),
        acceptor(runner),
        connections(std::make_shared<Connections>(runner, limits, std::move(handler),
                                                  std::move(challenge))) {}

  const asio::any_io_executor executor;
  tcp::acceptor acceptor;
  const std::shared_ptr<Connections> connections;
};

namespace {

// Operations report their error beside their result instead of throwing it.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

asio::awaitable<void> Accept(std::shared_ptr<HttpServer::State> server) {
  constexpr std::chrono::milliseconds kPause{100};
  asio::steady_timer pause(server->executor);
  for (;;) {
    // Whoever comes while all places are taken waits in the backlog.
    while (server->connections->IsFull() && server->acceptor.is_open()) {
      pause.expires_after(kPause);
      co_await pause.async_wait(kAwait);
    }
    auto [error, socket] = co_await server->acceptor.async_accept(kAwait);
    if (!server->acceptor.is_open()) co_return;
    if (error) {
      // Out of descriptors, most likely. The pause keeps the loop from spinning.
      Log(LogLevel::kWarning, "cannot accept", {{"reason", error.message()}});
      pause.expires_after(kPause);
      co_await pause.async_wait(kAwait);
      continue;
    }
    server->connections->Serve(std::move(socket));
  }
}

}  // namespace

HttpServer::HttpServer(const asio::any_io_executor& executor, const HttpLimits& limits,
                       RespondingHandler handler, Challenge challenge)
    : state_(std::make_shared<State>(executor, limits, std::move(handler), std::move(challenge))) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<Address> HttpServer::Listen(const Address& address) {
  if (address.is_unix()) {
    return absl::InvalidArgumentError("the HTTP listener needs HOST:PORT, not a unix: address");
  }
  boost::system::error_code error;
  const auto host =
      asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address.host, "\" is no IP address that can be listened on"));
  }
  const tcp::endpoint endpoint(host, address.port);
  tcp::acceptor& acceptor = state_->acceptor;
  const auto failed = [&] {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", error.message()));
  };
  if (acceptor.open(endpoint.protocol(), error)) return failed();
  acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (acceptor.bind(endpoint, error)) return failed();
  if (acceptor.listen(asio::socket_base::max_listen_connections, error)) return failed();
  asio::co_spawn(state_->executor, Accept(state_), asio::detached);
  Address bound = address;
  bound.port = acceptor.local_endpoint().port();
  return bound;
}

int64_t HttpServer::connections() const { return state_->connections->connections(); }

int64_t HttpServer::web_sockets() const { return state_->connections->web_sockets(); }

void HttpServer::CloseAfterAnswers() { state_->connections->CloseAfterAnswers(); }

void HttpServer::Drain(std::function<void()> when_idle) {
  asio::post(state_->executor, [state = state_, when_idle = std::move(when_idle)] {
    boost::system::error_code ignored;
    state->acceptor.close(ignored);
    state->connections->Drain(when_idle);
  });
}

}  // namespace callslip::gateway
