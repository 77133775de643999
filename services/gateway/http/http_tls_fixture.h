#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "gateway/http/http_server.h"
#include "gateway/http/web_socket.h"
#include "gateway/http/web_socket_upgrade.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "support/test_authority.h"
#include "support/tls_connection.h"
#include "support/waiting.h"
#include "support/web_socket_client.h"
#include "tls/server_tls.h"

namespace callslip::gateway {

// An HttpServer over TLS, with these paths:
//   /echo    the body
//   /names   the names in the peer's certificate
//   /held    nothing, until the peer leaves; `held_` counts the waiting requests
//   /stream  pieces of 64 KiB, until the peer leaves
//   /ws      a WebSocket's echo
class HttpTlsTest : public testing::Test {
 protected:
  using Options = TlsConnection::Options;

  ~HttpTlsTest() override { Stop(); }

  void Stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  static std::string Get(const std::string& path) {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: test\r\n\r\n");
  }
  static std::string Post(const std::string& body) {
    return absl::StrCat("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(),
                        "\r\n\r\n", body);
  }

  // One file after the other, as when a certificate is renewed.
  void Write(const TestAuthority::Pair& pair) {
    std::ofstream(Path("cert")) << pair.certificate;
    std::ofstream(Path("key")) << pair.key;
  }
  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_.path(), "/", name);
  }

  void Serve(bool asks_for_certificates = false) {
    Write(server_pair_);
    std::ofstream(Path("ca")) << authority_.certificate();
    const TlsFiles files = {.certificate = Path("cert"),
                            .key = Path("key"),
                            .authorities = asks_for_certificates ? Path("ca") : ""};
    auto tls = ServerTls::Load(files, absl::InfiniteDuration());
    ASSERT_TRUE(tls.ok()) << tls.status();
    tls_ = *std::move(tls);
    server_.emplace(
        context_.get_executor(), limits_,
        Spawning([this](std::shared_ptr<HttpRequest> request) { return Answer(request); }));
    const absl::StatusOr<Address> bound = server_->Listen({.host = "127.0.0.1"}, tls_);
    ASSERT_TRUE(bound.ok()) << bound.status();
    port_ = bound->port;
    thread_ = std::thread([this] { context_.run(); });
  }

  // Whether a new peer is served.
  bool Serves(const Options& options) {
    TlsConnection peer(port_, options);
    peer.Send(Post("x"));
    return absl::StartsWith(peer.ReadTo("\r\n\r\n"), "HTTP/1.1 200");
  }
  bool Serves() { return Serves(Options{}); }

  // Asked on the server's own thread.
  int64_t Connections() {
    return AskServer([this] { return server_->connections(); });
  }
  int64_t WebSockets() {
    return AskServer([this] { return server_->web_sockets(); });
  }
  // Each check runs on the server's thread, so that this waits for its progress and not for time.
  template <typename Condition>
  void Await(const Condition& condition) {
    while (!condition()) (void)Connections();
  }

  const TemporaryFolder folder_;
  const TestAuthority authority_;
  const TestAuthority::Pair server_pair_ = authority_.Issue();
  HttpLimits limits_;
  std::shared_ptr<ServerTls> tls_;
  std::atomic<int> held_{0};
  std::atomic<int> left_{0};
  boost::asio::io_context context_{1};
  std::optional<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;

 private:
  template <typename Question>
  int64_t AskServer(const Question& question) {
    std::promise<int64_t> answer;
    boost::asio::post(context_, [&] { answer.set_value(question()); });
    return answer.get_future().get();
  }

  boost::asio::awaitable<HttpResponse> Answer(std::shared_ptr<HttpRequest> request) {
    if (request->path == "/held") co_await Hold();
    if (request->path == "/ws") co_return UpgradeResponse(*request, EchoMessages);
    HttpResponse response{.body = request->body};
    if (request->path == "/names" && request->peer_names != nullptr) {
      response.body = absl::StrJoin(*request->peer_names, " ");
    }
    if (request->path == "/stream") response.stream = Flood;
    co_return response;
  }

  boost::asio::awaitable<void> Hold() {
    ++held_;
    try {
      co_await WaitForever();
    } catch (const boost::system::system_error&) {
      ++left_;
      throw;
    }
  }

  static boost::asio::awaitable<void> Flood(BodyWriter& writer) {
    for (;;) co_await writer.Write(std::string(64 << 10, 'x'));
  }

  static boost::asio::awaitable<void> EchoMessages(std::shared_ptr<WebSocket> socket) {
    for (;;) {
      std::optional<std::string> message = co_await socket->Read();
      if (!message.has_value()) co_return;
      socket->Send(*std::move(message));
    }
  }
};

}  // namespace callslip::gateway
