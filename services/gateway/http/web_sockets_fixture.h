#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/io_context.hpp"
#include "gateway/http/http_server.h"
#include "gateway/http/router.h"
#include "gateway/http/web_sockets.h"
#include "gtest/gtest.h"
#include "support/waiting.h"
#include "support/web_socket_client.h"

namespace callslip::gateway {

inline boost::asio::awaitable<void> Echo(std::shared_ptr<const HttpRequest>,
                                         std::shared_ptr<WebSocket> socket) {
  for (;;) {
    std::optional<std::string> message = co_await socket->Read();
    if (!message.has_value()) co_return;
    socket->Send(*std::move(message));
  }
}

inline constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
inline constexpr char kWorkerToken[] = "fedcba9876543210fedcba9876543210";

class WebSocketsTest : public testing::Test {
 protected:
  ~WebSocketsTest() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    socket_ = nullptr;
  }

  // At /ws/{id}.
  void Serve(WebSocketHandler handler, std::shared_ptr<const Credentials> tokens = nullptr) {
    router_.emplace(
        RequestFilter({{.host = "127.0.0.1", .port = 1}}, {"test"}, {"http://page.test"}),
        std::move(tokens));
    router_->AddWebSocket("/ws/{id}", {Role::kViewer, Role::kAdmin}, std::move(handler));
    router_->Add("GET", "/plain", {Role::kAdmin}, Plain);
    server_.emplace(context_.get_executor(), limits_,
                    [this](std::shared_ptr<HttpRequest> request, Responder responder) {
                      router_->Handle(std::move(request), std::move(responder));
                    });
    const absl::StatusOr<Address> bound = server_->Listen({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(bound.ok()) << bound.status();
    port_ = bound->port;
    thread_ = std::thread([this] { context_.run(); });
  }

  // A server that keeps its socket and waits.
  void ServeIdle() {
    Serve([this](std::shared_ptr<const HttpRequest>,
                 std::shared_ptr<WebSocket> socket) -> boost::asio::awaitable<void> {
      socket_ = std::move(socket);
      running_.Tell();
      try {
        co_await WaitForever();
      } catch (const boost::system::system_error& error) {
        EXPECT_EQ(error.code(), boost::asio::error::operation_aborted);
        cancelled_.Tell();
        throw;
      }
    });
  }

  static boost::asio::awaitable<HttpResponse> Plain(std::shared_ptr<const HttpRequest>) {
    co_return HttpResponse{.body = "plain"};
  }

  static std::shared_ptr<const Credentials> Tokens() {
    return std::make_shared<Credentials>(std::vector<TokenFile::Entry>{
        {{"viewer", Role::kViewer}, kToken}, {{"worker", Role::kWorker}, kWorkerToken}});
  }

  // The code with which the server closes after it has received `bytes`.
  int CodeAfter(const std::string& bytes) {
    WebSocketClient client(port_);
    client.Upgrade("/ws/1");
    client.Send(bytes);
    return client.ReadClose().close_code();
  }

  HttpLimits limits_;
  std::optional<Router> router_;
  std::shared_ptr<WebSocket> socket_;
  Event running_;
  Event cancelled_;
  boost::asio::io_context context_{1};
  std::optional<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace callslip::gateway
