#include "gateway/http/http_server.h"

#include <utility>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "common/log.h"
#include "common/status_macros.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/await.h"
#include "gateway/http/http_connections.h"
#include "gateway/http/listener.h"
#include "gateway/http/transport.h"

namespace callslip::gateway {

namespace asio = boost::asio;

struct HttpServer::State {
  State(const asio::any_io_executor& runner, const HttpLimits& limits, RespondingHandler handler,
        HeadJudge judge)
      : executor(runner),
        quota(limits.connections_of_address),
        connections(
            std::make_shared<Connections>(runner, limits, std::move(handler), std::move(judge))) {}

  const asio::any_io_executor executor;
  std::vector<std::shared_ptr<Listener>> listeners;
  AddressQuota quota;
  const std::shared_ptr<Connections> connections;
};

namespace {

constexpr std::chrono::milliseconds kPause{100};

// Returns once there is room for one more connection, or none is needed.
asio::awaitable<void> AwaitPlace(std::shared_ptr<HttpServer::State> server,
                                 std::shared_ptr<Listener> listener) {
  asio::steady_timer pause(server->executor);
  while (server->connections->IsFull() && listener->acceptor().is_open()) {
    // Evict a connection only when a new one arrives.
    co_await listener->acceptor().async_wait(asio::socket_base::wait_read, kAwait);
    if (!server->connections->IsFull()) co_return;
    if (server->connections->MakeRoom()) {
      // The evicted connection closes in a turn of its own.
      co_await asio::post(server->executor, kAwait);
      continue;
    }
    // All are busy: new connections wait in the backlog.
    pause.expires_after(kPause);
    co_await pause.async_wait(kAwait);
  }
}

void Serve(HttpServer::State& server, const Listener& listener, const ServerTls* tls, size_t index,
           Transport::Socket socket) {
  boost::system::error_code error;
  std::shared_ptr<void> place;
  // Local clients have other ways to overload the gateway.
  if (!listener.address().IsLoopback()) {
    place = server.quota.Take(AddressKey(socket.remote_endpoint(error)));
    if (error || place == nullptr) return;
  }
  // Without this the last packet of a response waits for the peer's delayed acknowledgment, 40 ms.
  if (!listener.address().is_unix()) socket.set_option(asio::ip::tcp::no_delay(true), error);
  socket.non_blocking(true, error);
  SslPtr session;
  if (tls != nullptr) {
    session = tls->NewSession();
    if (session == nullptr) return;
  }
  server.connections->Serve(Transport(std::move(socket), std::move(session), std::move(place)),
                            index);
}

asio::awaitable<void> Accept(std::shared_ptr<HttpServer::State> server,
                             std::shared_ptr<Listener> listener,
                             std::shared_ptr<const ServerTls> tls, size_t index) {
  asio::steady_timer pause(server->executor);
  for (;;) {
    co_await AwaitPlace(server, listener);
    auto [error, socket] = co_await listener->acceptor().async_accept(kAwait);
    if (!listener->acceptor().is_open()) co_return;
    if (error) {
      // Probably out of file descriptors. The pause keeps the loop from spinning.
      Log(LogLevel::kWarning, "cannot accept", {{"reason", error.message()}});
      pause.expires_after(kPause);
      co_await pause.async_wait(kAwait);
      continue;
    }
    Serve(*server, *listener, tls.get(), index, std::move(socket));
  }
}

}  // namespace

HttpServer::HttpServer(const asio::any_io_executor& executor, const HttpLimits& limits,
                       RespondingHandler handler, HeadJudge judge)
    : state_(std::make_shared<State>(executor, limits, std::move(handler), std::move(judge))) {}

HttpServer::~HttpServer() = default;

void HttpServer::Trust(TrustedProxies proxies) { state_->connections->Trust(std::move(proxies)); }

absl::StatusOr<Address> HttpServer::Listen(const Address& address,
                                           std::shared_ptr<const ServerTls> tls, size_t index) {
  ASSIGN_OR_RETURN(std::shared_ptr<Listener> listener, Listener::Open(state_->executor, address));
  state_->listeners.push_back(listener);
  asio::co_spawn(state_->executor, Accept(state_, listener, std::move(tls), index), asio::detached);
  return listener->address();
}

int64_t HttpServer::connections() const { return state_->connections->connections(); }

int64_t HttpServer::web_sockets() const { return state_->connections->web_sockets(); }

int64_t HttpServer::body_bytes() const { return state_->connections->body_bytes(); }

int64_t HttpServer::unsent_bytes() const { return state_->connections->unsent_bytes(); }

void HttpServer::CloseAfterAnswers() { state_->connections->CloseAfterAnswers(); }

void HttpServer::Drain(std::function<void()> when_idle) {
  asio::post(state_->executor, [state = state_, when_idle = std::move(when_idle)] {
    for (const auto& listener : state->listeners) listener->Close();
    state->connections->Drain(when_idle);
  });
}

}  // namespace callslip::gateway
