#include "gateway/http/http_connections.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/asio/write.hpp"
#include "common/log.h"
#include "gateway/http/error_response.h"
#include "gateway/http/http_codec.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Operations report their error beside their result instead of throwing it.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// How exact deadlines are, and how often a peer is looked at that has sent its next request early.
constexpr std::chrono::milliseconds kTick{250};
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

HttpResponse Failure() {
  return ErrorResponse(500, "internal", "The gateway failed to answer this request.",
                       "Please report it with the gateway's log.");
}

HttpResponse NoUpgrade() {
  return ErrorResponse(400, "bad_upgrade", "A WebSocket is opened with HTTP/1.1 and an empty body.",
                       "Send nothing after the headers before the answer is there.");
}

void LogFailure(absl::string_view message, const std::exception& error) {
  Log(LogLevel::kError, message, {{"error", error.what()}});
}

}  // namespace

// One connection from its acceptance to its end: a coroutine and what its steps share. What is held
// while a handler waits should be small, thousands of them wait at a time: reading and writing have
// frames of their own, and buffers that come and go.
//
// The watch over the peer and the deadline are callbacks, which cancel the coroutine or close the
// socket under it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<Connections> all)
      : socket_(std::move(socket)), all_(std::move(all)), index_(all_->open_.size()) {
    all_->open_.push_back(this);
  }
  ~Connection() {
    all_->open_.back()->index_ = index_;
    std::swap(all_->open_[index_], all_->open_.back());
    all_->open_.pop_back();
  }

  void Start() {
    // A coroutine that is cancelled ends by an exception.
    auto when_done = [self = shared_from_this()](std::exception_ptr) {
      self->EndRequest();
      self->Close();
    };
    asio::co_spawn(all_->context_, Serve(),
                   asio::bind_cancellation_slot(cancel_.slot(), std::move(when_done)));
  }

  void Tick() {
    if (all_->now_ >= deadline_) Close();
    if (peer_is_early_) LookAfterPeer();
  }

 private:
  class StreamWriter;
  using Parts = std::array<asio::const_buffer, 2>;

  // Each co_await stands alone in its statement: g++ 12 makes traps of some that stand in a
  // condition.
  asio::awaitable<void> Serve() {
    for (;;) {
      std::shared_ptr<HttpRequest> request = co_await ReadRequest();
      if (request == nullptr) co_return;
      const bool is_head = request->method == "HEAD";
      BeginRequest();
      HttpResponse response;
      StartWatch();
      // Our handlers throw nothing, but the libraries under them may.
      try {
        asio::awaitable<HttpResponse> answer = all_->handler_(std::move(request));
        response = co_await std::move(answer);
      } catch (const std::exception& error) {
        if (!peer_left_) LogFailure("handler failed", error);
        response = Failure();
      }
      EndWatch();
      if (peer_left_) co_return;
      if (response.upgrade != nullptr && MayUpgrade()) {
        Upgrade(std::move(response.upgrade));
        co_return;
      }
      if (response.upgrade != nullptr) response = NoUpgrade();
      const Framing framing = FramingOf(response);
      if (framing == Framing::kClose || all_->draining_) options_.keep_alive = false;
      bool sent = co_await Send(response, framing, is_head);
      if (sent && framing != Framing::kLength && !is_head) sent = co_await Stream(response);
      if (!sent || !options_.keep_alive || all_->draining_) co_return;
      EndRequest();
    }
  }

  // Nullptr where there is none: the peer has left, was too slow, or has sent what is no request,
  // which is answered here.
  asio::awaitable<std::shared_ptr<HttpRequest>> ReadRequest() {
    const HttpLimits& limits = all_->limits_;
    std::optional<RequestParser> parser;
    // The idle time is its own phase: a peer may think for long, then must send swiftly.
    ExpireAfter(limits.idle);
    for (;;) {
      size_t room = RequestParser::kFirstReadBytes;
      if (!received_.empty()) {
        if (!parser.has_value()) {
          parser.emplace(limits);
          ExpireAfter(limits.header_time);
        }
        const bool had_head = parser->HasHead();
        const RequestParser::Next next = parser->Parse(received_);
        if (next == RequestParser::Next::kDone) break;
        if (next == RequestParser::Next::kRefuse) {
          co_await Refuse(parser->TakeRefusal());
          co_return nullptr;
        }
        if (next == RequestParser::Next::kContinue) co_await SendContinue();
        if (!had_head && parser->HasHead()) ExpireAfter(limits.body_time);
        room = parser->ReadSize();
      }
      const size_t before = received_.size();
      received_.resize(before + room);
      const asio::mutable_buffer buffer(&received_[before], room);
      auto [error, bytes] = co_await socket_.async_read_some(buffer, kAwait);
      if (error) co_return nullptr;
      received_.resize(before + bytes);
    }
    deadline_ = kNever;
    options_ = parser->options();
    if (received_.empty()) received_.shrink_to_fit();
    co_return parser->TakeRequest();
  }

  // A client that sends frames before it has an answer breaks RFC 6455.
  bool MayUpgrade() const { return !options_.is_http_1_0 && received_.empty(); }

  void Upgrade(std::shared_ptr<const WebSocketUpgrade> upgrade) {
    // The watch may still be set, and would hold this connection.
    boost::system::error_code ignored;
    socket_.cancel(ignored);
    all_->web_sockets_->Serve(std::move(socket_), std::move(upgrade));
  }

  Framing FramingOf(const HttpResponse& response) const {
    if (response.stream == nullptr) return Framing::kLength;
    return options_.is_http_1_0 ? Framing::kClose : Framing::kChunks;
  }

  // The head, and the body if it is there as a whole. False where the peer did not take it.
  asio::awaitable<bool> Send(const HttpResponse& response, Framing framing, bool is_head) {
    const std::string head = ResponseHead(response, options_, framing);
    // A HEAD is answered with the headers that a GET would get.
    const bool has_body = framing == Framing::kLength && !is_head;
    const asio::const_buffer body(response.body.data(), has_body ? response.body.size() : 0);
    const bool sent = co_await Write(asio::buffer(head), body);
    co_return sent;
  }

  // The body of a streamed response. False where it is torn.
  asio::awaitable<bool> Stream(const HttpResponse& response);

  // Says what was wrong with a request.
  asio::awaitable<void> Refuse(HttpResponse response) {
    options_ = {};
    const bool sent = co_await Send(response, Framing::kLength, /*is_head=*/false);
    if (sent) co_await Linger();
  }

  // A peer that is gone by now is noticed when its body is read.
  asio::awaitable<void> SendContinue() {
    constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await Write(asio::const_buffer(kContinue.data(), kContinue.size()));
  }

  // What the kernel takes at once, which is all of most responses, is not awaited. False where the
  // peer has left, or does not read.
  asio::awaitable<bool> Write(asio::const_buffer first, asio::const_buffer second = {}) {
    boost::system::error_code error;
    const size_t bytes = socket_.write_some(Parts{first, second}, error);
    if (bytes == first.size() + second.size()) co_return true;
    if (error && error != asio::error::would_block) co_return false;
    const Parts rest = {first + bytes, second + (bytes - std::min(bytes, first.size()))};
    const bool sent = co_await AwaitWrite(rest);
    co_return sent;
  }

  // Also lets others have their turn. False as above.
  asio::awaitable<bool> AwaitWrite(Parts parts) {
    ExpireAfter(all_->limits_.write_time);
    auto [error, bytes] = co_await asio::async_write(socket_, parts, kAwait);
    deadline_ = kNever;
    co_return !error;
  }

  // Reads on for a moment after the last answer: closing with unread bytes makes the kernel reset
  // the connection, and the peer may then lose the answer.
  asio::awaitable<void> Linger() {
    // Somewhat more than a body may have: many clients send all of theirs before they read.
    constexpr size_t kMaxBytes = 16 << 20;
    constexpr size_t kReadBytes = 64 << 10;
    constexpr std::chrono::seconds kMaxTime{2};
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    ExpireAfter(kMaxTime);
    received_.resize(kReadBytes);
    for (size_t total = 0; total < kMaxBytes;) {
      auto [error, bytes] = co_await socket_.async_read_some(asio::buffer(received_), kAwait);
      if (error) co_return;
      total += bytes;
    }
  }

  void BeginRequest() {
    under_way_ = true;
    ++all_->requests_;
  }
  void EndRequest() {
    if (!std::exchange(under_way_, false)) return;
    --all_->requests_;
    all_->TellIfIdle();
  }

  void ExpireAfter(std::chrono::seconds time) { deadline_ = all_->now_ + time / kTick + 1; }

  // Has the coroutine cancelled when the peer closes its side: then there is nothing to read though
  // the socket is readable. A watch outlives its request when the peer sends nothing more: it is
  // there for the next one.
  void StartWatch() {
    watching_ = true;
    if (watch_is_set_) return;
    watch_is_set_ = true;
    socket_.async_wait(tcp::socket::wait_read,
                       [self = shared_from_this()](boost::system::error_code error) {
                         self->watch_is_set_ = false;
                         if (!error && self->watching_) self->LookAfterPeer();
                       });
  }

  void EndWatch() {
    watching_ = false;
    peer_is_early_ = false;
  }

  void LookAfterPeer() {
    // A peer that has sent its next request early leaves no mark when it leaves.
    peer_is_early_ = IsConnected();
    if (peer_is_early_) return;
    peer_left_ = true;
    cancel_.emit(asio::cancellation_type::terminal);
  }

  bool IsConnected() {
    tcp_info info = {};
    socklen_t size = sizeof(info);
    return getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
  }

  // Ends what is awaited on the socket.
  void Close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  tcp::socket socket_;
  const std::shared_ptr<Connections> all_;
  size_t index_;               // In `all_->open_`.
  std::string received_;       // And not parsed.
  int64_t deadline_ = kNever;  // In ticks.
  asio::cancellation_signal cancel_;
  ConnectionOptions options_;  // Of the present request.
  bool under_way_ = false;     // From its end to the end of its response.
  // A handler or a producer runs, which is to be cancelled when the peer leaves.
  bool watching_ = false;
  bool watch_is_set_ = false;
  bool peer_is_early_ = false;
  bool peer_left_ = false;
};

class Connection::StreamWriter final : public BodyWriter {
 public:
  explicit StreamWriter(Connection& connection) : connection_(connection) {}

  asio::awaitable<void> Write(std::string piece) override {
    if (piece.empty()) co_return;  // As a chunk it would be the last one.
    if (!connection_.options_.is_http_1_0) piece = Chunk(piece);
    const Parts parts = {asio::buffer(piece)};
    const bool sent = co_await connection_.AwaitWrite(parts);
    if (!sent) throw boost::system::system_error(asio::error::operation_aborted);
  }

 private:
  Connection& connection_;
};

asio::awaitable<bool> Connection::Stream(const HttpResponse& response) {
  StreamWriter writer(*this);
  bool complete = false;
  StartWatch();
  try {
    asio::awaitable<void> body = response.stream(writer);
    co_await std::move(body);
    complete = true;
  } catch (const boost::system::system_error& error) {
    // What was aborted has been so by the peer's leaving or by its deadline.
    if (error.code() != asio::error::operation_aborted) LogFailure("stream failed", error);
  } catch (const std::exception& error) {
    LogFailure("stream failed", error);
  }
  EndWatch();
  if (complete && !options_.is_http_1_0) {
    const std::string last_chunk = Chunk("");
    complete = co_await Write(asio::buffer(last_chunk));
  }
  co_return complete;
}

Connections::Connections(asio::io_context& context, const HttpLimits& limits, HttpHandler handler)
    : context_(context),
      limits_(limits),
      handler_(std::move(handler)),
      web_sockets_(std::make_shared<WebSockets>(limits.web_socket)),
      timer_(context) {}

void Connections::Serve(tcp::socket socket) {
  boost::system::error_code ignored;
  // Without it the last packet of an answer waits for the peer's delayed acknowledgement, 40 ms.
  socket.set_option(tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
  std::make_shared<Connection>(std::move(socket), shared_from_this())->Start();
  StartTicking();
}

void Connections::Drain(std::function<void()> when_idle) {
  draining_ = true;
  when_idle_ = std::move(when_idle);
  web_sockets_->Drain([self = weak_from_this()] {
    if (const auto all = self.lock(); all != nullptr) all->TellIfIdle();
  });
  TellIfIdle();
}

void Connections::TellIfIdle() {
  if (requests_ > 0 || web_sockets_->size() > 0 || when_idle_ == nullptr) return;
  when_idle_();
  when_idle_ = nullptr;
}

void Connections::StartTicking() {
  if (ticking_ || open_.empty()) return;
  ticking_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->ticking_ = false;
    if (!error) self->Tick();
  });
}

void Connections::Tick() {
  ++now_;
  // Backwards, since one that ends is replaced by the last.
  for (size_t i = open_.size(); i > 0; i = std::min(i - 1, open_.size())) open_[i - 1]->Tick();
  StartTicking();
}

}  // namespace callslip::gateway
