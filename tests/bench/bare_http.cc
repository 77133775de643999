#include "bench/bare_http.h"

#include <utility>

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"

namespace callslip::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

asio::awaitable<void> Serve(tcp::socket socket, const BareHandler& handler) {
  beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> request;
    auto [read_error, bytes_read] = co_await http::async_read(socket, buffer, request, kAwait);
    if (read_error) co_return;
    const unsigned version = request.version();
    http::response<http::string_body> response(http::status::ok, version);
    response.keep_alive(request.keep_alive());
    response.set(http::field::content_type, "application/json");
    std::string path(request.target());
    std::string answer = co_await handler(std::move(path), std::move(request.body()));
    response.body() = std::move(answer);
    response.prepare_payload();
    auto [write_error, bytes_written] = co_await http::async_write(socket, response, kAwait);
    if (write_error || !response.keep_alive()) co_return;
  }
}

asio::awaitable<void> Accept(tcp::acceptor& acceptor, const BareHandler& handler) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (error) continue;
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), Serve(std::move(socket), handler), asio::detached);
  }
}

}  // namespace

void ServeBareHttp(const ParentLink& parent, const BareHandler& handler) {
  asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  asio::co_spawn(context, Accept(acceptor, handler), asio::detached);
  parent.Listening(acceptor.local_endpoint().port());
  context.run();
}

}  // namespace callslip::bench
