#include "bench/http_servers.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "bench/bare_http.h"
#include "bench/die.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/http/http_server.h"
#include "httplib.h"

namespace callslip::bench {
namespace {

namespace asio = boost::asio;

// Returns when the coroutine that awaits it is cancelled.
asio::awaitable<void> Hold(const ParentLink& parent) {
  parent.Event(kHeldEvent);
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer never(executor, asio::steady_timer::time_point::max());
  co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<std::string> AnswerBare(const ParentLink& parent, std::string path,
                                        std::string body) {
  if (path == "/hold") co_await Hold(parent);
  co_return body;
}

void ServeBare(const ParentLink& parent) {
  ServeBareHttp(parent, [&](std::string path, std::string body) {
    return AnswerBare(parent, std::move(path), std::move(body));
  });
}

asio::awaitable<gateway::HttpResponse> AnswerGateway(
    const ParentLink& parent, std::shared_ptr<const gateway::HttpRequest> request) {
  if (request->path == "/hold") {
    co_await Hold(parent);
    parent.Event(kPeerLeftEvent);
  }
  co_return gateway::HttpResponse{.body = request->body};
}

void ServeGateway(const ParentLink& parent) {
  asio::io_context context(1);
  gateway::HttpServer server(context.get_executor(), gateway::HttpLimits{},
                             [&](std::shared_ptr<const gateway::HttpRequest> request) {
                               return AnswerGateway(parent, std::move(request));
                             });
  const absl::StatusOr<Address> bound = server.Listen({.host = "127.0.0.1", .port = 0});
  if (!bound.ok()) Die(std::string(bound.status().message()));
  parent.Listening(bound->port);
  context.run();
}

// A connection keeps its thread for as long as it is open, whatever the queue: a pool would have to
// be as large as the number of connections.
class ThreadPerConnection final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override { std::thread(std::move(serve)).detach(); }
  void shutdown() override {}
};

void RunHttplib(const ParentLink& parent, const httplib::Server::Handler& hold) {
  httplib::Server server;
  server.new_task_queue = [] { return new ThreadPerConnection; };
  server.set_tcp_nodelay(true);
  // The default closes a connection after five requests.
  server.set_keep_alive_max_count(1 << 30);
  server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "application/json");
  });
  server.Post("/hold", hold);
  parent.Listening(static_cast<uint16_t>(server.bind_to_any_port("127.0.0.1")));
  server.listen_after_bind();
}

void ServeHttplib(const ParentLink& parent) {
  // Neither the request nor the response tells whether the peer is there: all a handler can do is
  // to wait.
  RunHttplib(parent, [&](const httplib::Request&, httplib::Response&) {
    parent.Event(kHeldEvent);
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  });
}

}  // namespace

const std::vector<HttpServerKind>& HttpServerKinds() {
  static const auto& kinds = *new std::vector<HttpServerKind>{
      {"bare Beast", &ServeBare, 2000},
      {"gateway's HttpServer", &ServeGateway, 2000},
      {"cpp-httplib", &ServeHttplib, 500},
  };
  return kinds;
}

void ServeHttplibStream(const ParentLink& parent) {
  RunHttplib(parent, [&](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("application/json", [&](size_t, httplib::DataSink& sink) {
      parent.Event(kHeldEvent);
      while (sink.is_writable()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      parent.Event(kPeerLeftEvent);
      return false;
    });
  });
}

}  // namespace callslip::bench
