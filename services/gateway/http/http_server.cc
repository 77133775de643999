#include "gateway/http/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/experimental/awaitable_operators.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "common/log.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

struct HttpServer::State {
  State(asio::io_context& io, const HttpLimits& http_limits, HttpHandler http_handler)
      : context(io), limits(http_limits), handler(std::move(http_handler)), acceptor(io) {}

  asio::io_context& context;
  const HttpLimits limits;
  const HttpHandler handler;
  tcp::acceptor acceptor;
  int connections = 0;
  int requests = 0;  // Between the end of their headers and the end of their response.
  bool draining = false;
  std::function<void()> when_idle;  // To be called once, while draining.

  void RequestEnded() {
    --requests;
    TellIfIdle();
  }
  void TellIfIdle() {
    if (requests > 0 || when_idle == nullptr) return;
    when_idle();
    when_idle = nullptr;
  }
};

namespace {

// Operations report their error beside their result instead of throwing it.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

using Parser = http::request_parser<http::string_body>;
using BeastResponse = http::response<http::string_body>;

bool IsConnected(tcp::socket& socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  return getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_ESTABLISHED;
}

// Returns when the peer has closed its side: then there is nothing to read though the socket is
// readable. A peer that has sent its next request early leaves no such mark; its connection is
// looked at from time to time.
asio::awaitable<void> PeerLeaves(tcp::socket& socket) {
  constexpr std::chrono::milliseconds kLookEvery{200};
  auto [error] = co_await socket.async_wait(tcp::socket::wait_read, kAwait);
  asio::steady_timer next_look(socket.get_executor());
  while (!error && IsConnected(socket)) {
    next_look.expires_after(kLookEvery);
    co_await next_look.async_wait(kAwait);
  }
}

// Our handlers throw nothing, but the libraries under them may. Also ends a handler that was
// cancelled, which unwinds by an exception; its answer is dropped.
asio::awaitable<HttpResponse> Guarded(const HttpHandler& handler,
                                      std::shared_ptr<HttpRequest> request) {
  try {
    co_return co_await handler(std::move(request));
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) co_return HttpResponse{};
    Log(LogLevel::kError, "handler failed", {{"error", error.what()}});
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "handler failed", {{"error", error.what()}});
  }
  co_return ErrorResponse(500, "internal", "The gateway failed to answer this request.",
                          "Please report it with the gateway's log.");
}

BeastResponse ToBeast(HttpResponse response, unsigned version, bool keep_alive,
                      bool is_head = false) {
  BeastResponse message(static_cast<http::status>(response.status), version);
  if (!response.body.empty()) message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.body() = std::move(response.body);
  message.keep_alive(keep_alive);
  message.prepare_payload();
  // The headers of the answer that a GET would get, without its body.
  if (is_head) message.body().clear();
  return message;
}

// Nullptr where the request target or the Host header is broken.
std::shared_ptr<HttpRequest> FromBeast(http::request<http::string_body> message) {
  auto request = std::make_shared<HttpRequest>();
  request->method = std::string(message.method_string());
  const auto target = message.target();
  // With two of them, whoever stands between us and the peer may have checked the other one.
  if (message.count(http::field::host) > 1) return nullptr;
  if (!ParseTarget(absl::string_view(target.data(), target.size()), *request)) return nullptr;
  for (const auto& field : message) {
    request->headers.emplace(absl::AsciiStrToLower(std::string(field.name_string())),
                             std::string(field.value()));
  }
  request->body = std::move(message.body());
  return request;
}

HttpResponse TooManyHeaders(const HttpLimits& limits) {
  return ErrorResponse(431, "too_many_headers",
                       absl::StrCat("There are more than ", limits.header_count, " headers."),
                       "Send fewer headers.");
}

HttpResponse BadRequest(beast::error_code error, const HttpLimits& limits) {
  if (error == http::error::body_limit) {
    return ErrorResponse(413, "body_too_large",
                         absl::StrCat("The body is larger than ", limits.body_bytes, " bytes."),
                         "Send less, or store the data elsewhere and send a reference.");
  }
  if (error == http::error::header_limit) {
    return ErrorResponse(
        431, "headers_too_large",
        absl::StrCat("The headers are larger than ", limits.header_bytes, " bytes."),
        "Send fewer or shorter headers.");
  }
  return ErrorResponse(400, "bad_http", absl::StrCat("This is no valid HTTP: ", error.message()),
                       "Check the request line, the headers and Content-Length.");
}

// The body of a streamed response. HTTP/1.0 knows no chunks: there the connection's end is the
// body's end.
class StreamWriter final : public BodyWriter {
 public:
  StreamWriter(beast::tcp_stream& stream, std::chrono::seconds write_time, bool chunked)
      : stream_(stream), write_time_(write_time), chunked_(chunked) {}

  asio::awaitable<void> Write(std::string piece) override {
    if (piece.empty()) co_return;  // As a chunk it would be the last one.
    if (!chunked_) {
      co_await Send(asio::buffer(piece));
    } else {
      co_await Send(http::make_chunk(asio::buffer(piece)));
    }
  }

  asio::awaitable<void> Finish() {
    if (chunked_) co_await Send(http::make_chunk_last());
  }

 private:
  template <typename Buffers>
  asio::awaitable<void> Send(Buffers buffers) {
    stream_.expires_after(write_time_);
    auto [error, bytes] = co_await asio::async_write(stream_, buffers, kAwait);
    if (error) throw boost::system::system_error(asio::error::operation_aborted);
    stream_.expires_never();
  }

  beast::tcp_stream& stream_;
  const std::chrono::seconds write_time_;
  const bool chunked_;
};

using Producer = std::function<asio::awaitable<void>(BodyWriter&)>;

// False where the body is torn.
asio::awaitable<bool> Produce(const Producer& producer, StreamWriter& writer) {
  try {
    co_await producer(writer);
    co_await writer.Finish();
    co_return true;
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) co_return false;
    Log(LogLevel::kError, "stream failed", {{"error", error.what()}});
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "stream failed", {{"error", error.what()}});
  }
  co_return false;
}

// True where an answer can still reach the peer.
bool IsPeersMistake(beast::error_code error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

}  // namespace

// One connection from its acceptance to its end. A coroutine in a class: the members are what all
// steps share. Each co_await stands alone in its statement: g++ 12 makes traps of some that stand
// in a condition.
class Connection {
 public:
  Connection(tcp::socket socket, std::shared_ptr<HttpServer::State> server)
      : stream_(std::move(socket)), server_(std::move(server)) {
    ++server_->connections;
  }
  ~Connection() { --server_->connections; }

  static asio::awaitable<void> Run(std::unique_ptr<Connection> connection) {
    for (bool open = true; open;) open = co_await connection->ServeOne();
  }

 private:
  // Reads a request and answers it. False where the connection is to be closed.
  asio::awaitable<bool> ServeOne() {
    const HttpLimits& limits = server_->limits;
    // The idle time is its own phase: a peer may think for long, then must send swiftly.
    if (buffer_.size() == 0) {
      stream_.expires_after(limits.idle);
      auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kAwait);
      if (error) co_return false;
      buffer_.commit(bytes);
    }
    Parser parser;
    parser.header_limit(limits.header_bytes);
    parser.body_limit(limits.body_bytes);
    stream_.expires_after(limits.header_time);
    auto [header_error, header_bytes] =
        co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    if (header_error) {
      co_await Refuse(header_error);
      co_return false;
    }
    const auto& fields = parser.get();
    if (std::distance(fields.begin(), fields.end()) > limits.header_count) {
      const bool sent = co_await Send(ToBeast(TooManyHeaders(limits), 11, false));
      if (sent) co_await Linger();
      co_return false;
    }
    const bool waits = beast::iequals(parser.get()[http::field::expect], "100-continue");
    if (waits) co_await SendContinue();
    stream_.expires_after(limits.body_time);
    auto [body_error, body_bytes] = co_await http::async_read(stream_, buffer_, parser, kAwait);
    if (body_error) {
      co_await Refuse(body_error);
      co_return false;
    }
    const bool keep_alive = parser.get().keep_alive();
    const unsigned version = parser.get().version();
    const bool is_head = parser.get().method() == http::verb::head;
    ++server_->requests;
    const std::optional<HttpResponse> response = co_await Answer(FromBeast(parser.release()));
    bool open = false;
    if (response.has_value()) {
      const bool keep = keep_alive && !server_->draining;
      if (response->stream == nullptr) {
        const bool sent = co_await Send(ToBeast(*response, version, keep, is_head));
        open = sent && keep;
      } else {
        const bool chunked = version >= 11;
        const bool sent = co_await SendStream(*response, version, keep && chunked, is_head);
        open = sent && keep && chunked && !server_->draining;
      }
    }
    server_->RequestEnded();
    co_return open;
  }

  // The handler's answer, or nullopt where the peer left before it was there.
  asio::awaitable<std::optional<HttpResponse>> Answer(std::shared_ptr<HttpRequest> request) {
    using asio::experimental::awaitable_operators::operator||;
    if (request == nullptr) {
      co_return ErrorResponse(400, "bad_target",
                              "The request target or the Host header is malformed.",
                              "Percent-encode path and query as UTF-8, and send one Host.");
    }
    stream_.expires_never();
    auto first =
        co_await (Guarded(server_->handler, std::move(request)) || PeerLeaves(stream_.socket()));
    if (first.index() == 1) co_return std::nullopt;
    co_return std::get<0>(std::move(first));
  }

  asio::awaitable<bool> Send(BeastResponse message) {
    stream_.expires_after(server_->limits.write_time);
    auto [error, bytes] = co_await http::async_write(stream_, message, kAwait);
    co_return !error;
  }

  // False where the peer has not got it all.
  asio::awaitable<bool> SendStream(const HttpResponse& response, unsigned version, bool keep_alive,
                                   bool is_head) {
    using asio::experimental::awaitable_operators::operator||;
    const bool chunked = version >= 11;
    http::response<http::empty_body> head(static_cast<http::status>(response.status), version);
    head.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) head.set(name, value);
    head.keep_alive(keep_alive);
    head.chunked(chunked);
    http::response_serializer<http::empty_body> serializer(head);
    stream_.expires_after(server_->limits.write_time);
    auto [error, bytes] = co_await http::async_write_header(stream_, serializer, kAwait);
    if (error) co_return false;
    if (is_head) co_return true;
    stream_.expires_never();
    StreamWriter writer(stream_, server_->limits.write_time, chunked);
    auto first = co_await (Produce(response.stream, writer) || PeerLeaves(stream_.socket()));
    co_return first.index() == 0 && std::get<0>(first);
  }

  // A peer that is gone by now is noticed when its body is read.
  asio::awaitable<void> SendContinue() {
    http::response<http::empty_body> message(http::status::continue_, 11);
    stream_.expires_after(server_->limits.write_time);
    co_await http::async_write(stream_, message, kAwait);
  }

  // Says what was wrong with the request, where that can still be said.
  asio::awaitable<void> Refuse(beast::error_code error) {
    if (!IsPeersMistake(error)) co_return;
    const bool sent = co_await Send(ToBeast(BadRequest(error, server_->limits), 11, false));
    if (sent) co_await Linger();
  }

  // Reads on for a moment after the last answer: closing with unread bytes makes the kernel reset
  // the connection, and the peer may then lose the answer.
  asio::awaitable<void> Linger() {
    // Somewhat more than a body may have: many clients send all of theirs before they read.
    constexpr size_t kMaxBytes = 16 << 20;
    constexpr std::chrono::seconds kMaxTime{2};
    constexpr size_t kLingerBytes = kMaxBufferBytes;
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kMaxTime);
    for (size_t total = 0; total < kMaxBytes;) {
      buffer_.clear();
      auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kLingerBytes), kAwait);
      if (error) co_return;
      total += bytes;
    }
  }

  // A request's first bytes. Every idle connection holds a buffer of this size.
  static constexpr size_t kReadBytes = 1024;

  beast::tcp_stream stream_;
  // Bodies pass through it in pieces; what must fit as a whole is a header block, and the
  // extensions and trailers of chunks, which would otherwise be gathered without bound.
  static constexpr size_t kMaxBufferBytes = 64 << 10;
  beast::flat_buffer buffer_{kMaxBufferBytes};
  const std::shared_ptr<HttpServer::State> server_;
};

namespace {

asio::awaitable<void> Accept(std::shared_ptr<HttpServer::State> server) {
  constexpr std::chrono::milliseconds kPause{100};
  asio::steady_timer pause(server->context);
  for (;;) {
    // Whoever comes while all places are taken waits in the backlog.
    while (server->connections >= server->limits.connections && server->acceptor.is_open()) {
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
    beast::error_code ignored;
    // Without it the last packet of an answer waits for the peer's delayed acknowledgement, 40 ms.
    socket.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(server->context,
                   Connection::Run(std::make_unique<Connection>(std::move(socket), server)),
                   asio::detached);
  }
}

}  // namespace

HttpServer::HttpServer(asio::io_context& context, const HttpLimits& limits, HttpHandler handler)
    : state_(std::make_shared<State>(context, limits, std::move(handler))) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<Address> HttpServer::Listen(const Address& address) {
  if (address.is_unix()) {
    return absl::InvalidArgumentError("the HTTP listener needs HOST:PORT, not a unix: address");
  }
  beast::error_code error;
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
  asio::co_spawn(state_->context, Accept(state_), asio::detached);
  Address bound = address;
  bound.port = acceptor.local_endpoint().port();
  return bound;
}

void HttpServer::Drain(std::function<void()> when_idle) {
  asio::post(state_->context, [state = state_, when_idle = std::move(when_idle)] {
    beast::error_code ignored;
    state->acceptor.close(ignored);
    state->draining = true;
    state->when_idle = when_idle;
    state->TellIfIdle();
  });
}

}  // namespace callslip::gateway
