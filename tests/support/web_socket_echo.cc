// Serves WebSockets as the gateway does, for clients that are not ours: /echo returns what it is
// sent, /flood sends without a pause. Its token is its argument. Ends on SIGTERM.

#include <csignal>
#include <iostream>
#include <string>

#include "boost/asio/io_context.hpp"
#include "boost/asio/signal_set.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/http/http_server.h"
#include "gateway/http/router.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> Echo(std::shared_ptr<const HttpRequest>, std::shared_ptr<WebSocket> socket) {
  for (;;) {
    std::optional<std::string> message = co_await socket->Read();
    if (!message.has_value()) co_return;
    socket->Send(*std::move(message));
  }
}

asio::awaitable<void> Flood(std::shared_ptr<const HttpRequest>, std::shared_ptr<WebSocket> socket) {
  const auto message = std::make_shared<const std::string>(64 << 10, 'x');
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer pause(executor);
  for (;;) {
    socket->Send(message);
    pause.expires_after(std::chrono::milliseconds(1));
    co_await pause.async_wait(asio::use_awaitable);
  }
}

int Run(const std::string& token) {
  asio::io_context context{1};
  std::optional<Router> router;
  HttpServer server(context.get_executor(), HttpLimits{},
                    [&](std::shared_ptr<HttpRequest> request, Responder responder) {
                      router->Handle(std::move(request), std::move(responder));
                    });
  const absl::StatusOr<Address> bound = server.Listen({.host = "127.0.0.1", .port = 0});
  if (!bound.ok()) return 1;
  router.emplace(RequestFilter({*bound}, {}, {}),
                 std::make_shared<Credentials>(
                     std::vector<TokenFile::Entry>{{{"viewer", Role::kViewer}, token}}));
  router->AddWebSocket("/echo", {Role::kViewer}, Echo);
  router->AddWebSocket("/flood", {Role::kViewer}, Flood);
  asio::signal_set stop(context, SIGTERM);
  stop.async_wait(
      [&](const boost::system::error_code&, int) { server.Drain([&] { context.stop(); }); });
  std::cerr << "listening on " << bound->ToString() << std::endl;
  context.run();
  return 0;
}

}  // namespace
}  // namespace callslip::gateway

int main(int argc, char** argv) { return argc == 2 ? callslip::gateway::Run(argv[1]) : 2; }
