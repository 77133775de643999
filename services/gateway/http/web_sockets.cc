#include "gateway/http/web_sockets.h"

#include <array>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/cancellation_type.hpp"
#include "boost/asio/compose.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/beast/core/buffers_to_string.hpp"
#include "boost/beast/core/flat_buffer.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/websocket.hpp"
#include "common/log.h"
#include "common/text_scan.h"
#include "gateway/http/await.h"
#include "gateway/http/scoped_task.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

// The buffer that waits for a message: idle sockets should use little memory, and most messages are
// small. It grows for a longer message and shrinks afterwards.
constexpr size_t kIdleBufferBytes = 128;
// Overhead of a queued message, so that empty ones count too.
constexpr size_t kMessageOverhead = 64;

// The request in Beast's form. The route has already made the checks that Beast makes.
http::request<http::empty_body> RequestOf(const WebSocketUpgrade& upgrade) {
  http::request<http::empty_body> request(http::verb::get, "/", 11);
  request.set(http::field::host, "gateway");
  request.set(http::field::connection, "Upgrade");
  request.set(http::field::upgrade, "websocket");
  request.set(http::field::sec_websocket_version, "13");
  request.set(http::field::sec_websocket_key, upgrade.key);
  return request;
}

// Truncates between characters: a close frame must contain UTF-8.
websocket::close_reason ReasonOf(WebSocketCloseCode code, const std::string& text) {
  websocket::close_reason reason(static_cast<websocket::close_code>(code));
  const absl::string_view cut = CutText(text, reason.reason.max_size());
  reason.reason.assign(cut.data(), cut.size());
  return reason;
}

// Ends a connection after the closing handshake: lets the peer close first, so that it receives
// everything that was sent.
struct Teardown {
  Transport& transport;
  std::unique_ptr<std::array<char, 512>> dropped = nullptr;

  template <typename Self>
  void operator()(Self& self, beast::error_code error = {}, size_t = 0) {
    if (dropped == nullptr) {
      dropped = std::make_unique<std::array<char, 512>>();
      transport.ShutdownSend();
    }
    if (error) return self.complete(error == asio::error::eof ? beast::error_code() : error);
    const auto buffer = asio::buffer(*dropped);
    transport.async_read_some(buffer, std::move(self));
  }
};

}  // namespace

// Beast requires these functions for a stream type of another library; found by argument-dependent
// lookup.

template <typename Handler>
void async_teardown(beast::role_type, Transport& transport, Handler&& handler) {
  asio::async_compose<Handler, void(beast::error_code)>(Teardown{transport}, handler, transport);
}

void beast_close_socket(Transport& transport) { transport.Close(); }

// One socket from the upgrade to its end. Each operation in progress keeps it alive: always a read,
// sometimes a write, the server's coroutine, the closing.
class WebSocketConnection final : public WebSocket,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(Transport transport, std::shared_ptr<const WebSocketUpgrade> upgrade,
                      CredentialPtr credential, std::shared_ptr<WebSockets> all)
      : stream_(std::move(transport)),
        upgrade_(std::move(upgrade)),
        credential_(std::move(credential)),
        all_(std::move(all)),
        unread_place_(all_->unread_),
        news_(stream_.get_executor(), asio::steady_timer::time_point::max()),
        room_(stream_.get_executor(), asio::steady_timer::time_point::max()),
        unsent_place_(all_->unsent_),
        cut_off_(stream_.get_executor()) {
    all_->open_.insert(this);
    unread_place_.SetCaller(AccountOf(credential_));
    unsent_place_.SetCaller(AccountOf(credential_));
  }
  ~WebSocketConnection() override { all_->Remove(this); }

  void Start() {
    const WebSocketLimits& limits = all_->limits_;
    // Beast sends a ping after half of the idle time.
    stream_.set_option(websocket::stream_base::timeout{.handshake_timeout = limits.close_time,
                                                       .idle_timeout = 2 * limits.ping_interval,
                                                       .keep_alive_pings = true});
    stream_.set_option(
        websocket::stream_base::decorator([upgrade = upgrade_](websocket::response_type& response) {
          response.erase(http::field::server);
          if (upgrade->protocol.empty()) return;
          response.set(http::field::sec_websocket_protocol, upgrade->protocol);
        }));
    stream_.read_message_max(limits.message_bytes);
    // One message is one frame, sent without copying.
    stream_.auto_fragment(false);
    stream_.text(true);
    // Called by reads, which keep this alive.
    stream_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::close) HandlePeerClosing();
    });
    const auto request = RequestOf(*upgrade_);
    stream_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
      if (error || self->closing_) return self->CutOff();
      self->is_upgraded_ = true;
      self->RunServer();
      self->ReadNext();
    });
  }

  asio::awaitable<std::optional<std::string>> Read() override {
    while (unread_.empty() && !closing_) {
      co_await news_.async_wait(kAwait);
    }
    std::optional<std::string> message;
    if (!unread_.empty()) {
      message = std::move(unread_.front());
      unread_bytes_ -= message->size() + kMessageOverhead;
      unread_.pop_front();
      CountUnread();
    }
    co_return message;
  }

  bool IsOver(absl::Time now) const { return credential_ != nullptr && credential_->IsOver(now); }

  using WebSocket::Send;
  void Send(std::shared_ptr<const std::string> message) override {
    if (closing_) return;
    // The socket's limit does not apply to a single message.
    const bool is_only = unsent_bytes_ == 0;
    const size_t bytes = message->size() + kMessageOverhead;
    const bool is_full = !is_only && unsent_bytes_ + bytes > all_->limits_.unsent_bytes;
    if (is_full || !unsent_place_.SetBeyondFree(unsent_bytes_ + bytes)) {
      DropUnsent();
      return Close(WebSocketCloseCode::kTryAgainLater, "too slow");
    }
    unsent_bytes_ += bytes;
    unsent_.push_back(std::move(message));
    if (!writing_) WriteNext();
  }

  asio::awaitable<void> AwaitRoom() override {
    while (!HasRoom()) {
      co_await room_.async_wait(kAwait);
    }
  }

  void Close(WebSocketCloseCode code, const std::string& reason) override {
    if (closing_) return;
    close_reason_ = ReasonOf(code, reason);
    BeginClosing();
    // Before the upgrade is answered there is no other way to close a connection.
    if (!is_upgraded_) return CutOff();
    if (!writing_) WriteNext();
  }

 private:
  // Accounts for the messages waiting for the reader and the one being received. False if the
  // budget does not allow it.
  bool CountUnread() {
    const size_t arriving = received_.size() > kIdleBufferBytes ? received_.size() : 0;
    return unread_place_.SetBeyondFree(unread_bytes_ + arriving);
  }

  // Drops all messages except the one being written.
  void DropUnsent() {
    for (const auto& message : unsent_) unsent_bytes_ -= message->size() + kMessageOverhead;
    unsent_.clear();
    unsent_place_.SetBeyondFree(unsent_bytes_);
  }

  bool HasRoom() const { return closing_ || unsent_bytes_ <= all_->limits_.unsent_bytes / 2; }

  // Starts the closing handshake, from either side, and its time limit.
  void BeginClosing() {
    closing_ = true;
    cut_off_.expires_after(all_->limits_.close_time);
    cut_off_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->CutOff();
    });
    EndServer();
  }

  // Beast answers the close frame, and then waits for the peer to close the connection.
  void HandlePeerClosing() {
    is_peer_closing_ = true;
    DropUnsent();
    if (!closing_) BeginClosing();
  }

  void RunServer() {
    serving_ = true;
    asio::awaitable<void> server = upgrade_->server(shared_from_this());
    ScopedTask::Ended when_done = [self = shared_from_this()](const std::exception_ptr& error) {
      self->serving_ = false;
      self->HandleServerEnd(error);
    };
    server_.emplace(stream_.get_executor(), std::move(server), std::move(when_done));
  }

  void HandleServerEnd(const std::exception_ptr& error) {
    // A canceled server ends with an exception.
    if (error != nullptr && !closing_) {
      Log(LogLevel::kError, "the server of a web socket failed");
      return Close(WebSocketCloseCode::kInternalError, "The gateway failed.");
    }
    Close(WebSocketCloseCode::kNormal, "");
    RemoveIfOver();
  }

  void EndServer() {
    news_.cancel();
    room_.cancel();
    if (server_.has_value()) server_->End();
  }

  // Reads continue until the end, because they also detect pongs and the peer's leaving.
  void ReadNext() {
    // 0: Beast chooses.
    const size_t limit = received_.size() == 0 ? kIdleBufferBytes : 0;
    auto when_read = [self = shared_from_this()](beast::error_code error, size_t) {
      if (error) return self->CutOff();
      if (self->stream_.is_message_done()) self->TakeMessage();
      if (!self->CountUnread()) self->TellUnread();
      self->ReadNext();
    };
    stream_.async_read_some(
        received_, limit, asio::bind_cancellation_slot(stop_reading_.slot(), std::move(when_read)));
  }

  void TakeMessage() {
    if (!closing_) Keep(beast::buffers_to_string(received_.data()));
    received_.clear();
    if (received_.capacity() > kIdleBufferBytes) received_.shrink_to_fit();
  }

  void Keep(std::string message) {
    if (!stream_.got_text()) return Close(WebSocketCloseCode::kUnsupportedData, "Send text.");
    // Beast accepts text that ends within a character if its last frame is empty.
    if (!IsUtf8(message)) return Close(WebSocketCloseCode::kInvalidPayload, "Send UTF-8.");
    unread_bytes_ += message.size() + kMessageOverhead;
    unread_.push_back(std::move(message));
    news_.cancel();
    if (unread_bytes_ > all_->limits_.unread_bytes) TellUnread();
  }

  void TellUnread() {
    Close(WebSocketCloseCode::kPolicyViolation, "More messages came than are read.");
  }

  void WriteNext() {
    if (unsent_.empty()) {
      if (closing_ && !is_peer_closing_ && !over_) SendClose();
      return;
    }
    writing_ = true;
    const std::shared_ptr<const std::string> message = std::move(unsent_.front());
    unsent_.pop_front();
    auto when_written = [self = shared_from_this(), message](beast::error_code error, size_t) {
      self->writing_ = false;
      self->unsent_bytes_ -= message->size() + kMessageOverhead;
      self->unsent_place_.SetBeyondFree(self->unsent_bytes_);
      if (self->HasRoom()) self->room_.cancel();
      if (error) return self->CutOff();
      self->WriteNext();
    };
    stream_.async_write(asio::buffer(*message), std::move(when_written));
  }

  void SendClose() {
    auto when_closed = [self = shared_from_this()](beast::error_code) { self->CutOff(); };
    stream_.async_close(close_reason_,
                        asio::bind_cancellation_slot(stop_closing_.slot(), std::move(when_closed)));
  }

  // Closes the connection, which ends all operations on it.
  void CutOff() {
    if (std::exchange(over_, true)) return;
    stream_.next_layer().Close();
    // If an invalid frame arrives while closing, Beast's read waits for its close, and the close
    // for the read: they would keep this alive forever.
    stop_reading_.emit(asio::cancellation_type::terminal);
    stop_closing_.emit(asio::cancellation_type::terminal);
    closing_ = true;
    DropUnsent();
    cut_off_.cancel();
    EndServer();
    RemoveIfOver();
  }

  void RemoveIfOver() {
    if (over_ && !serving_) all_->Remove(this);
  }

  websocket::stream<Transport, /*deflateSupported=*/false> stream_;
  const std::shared_ptr<const WebSocketUpgrade> upgrade_;
  const CredentialPtr credential_;
  const std::shared_ptr<WebSockets> all_;
  beast::flat_buffer received_;
  std::list<std::string> unread_;  // By the server.
  size_t unread_bytes_ = 0;
  ByteBudget::Place unread_place_;  // For these and the message being received.
  asio::steady_timer news_;         // Canceled to wake the reader.
  asio::steady_timer room_;         // Canceled to wake the caller that waits for room.
  std::list<std::shared_ptr<const std::string>> unsent_;
  size_t unsent_bytes_ = 0;  // Including the message being written.
  ByteBudget::Place unsent_place_;
  bool writing_ = false;
  std::optional<ScopedTask> server_;
  bool is_upgraded_ = false;
  bool serving_ = false;  // The server's coroutine is running.
  bool closing_ = false;  // The server must end, and nothing more is queued.
  bool is_peer_closing_ = false;
  websocket::close_reason close_reason_;
  asio::steady_timer cut_off_;  // For a peer that does not complete the closing.
  bool over_ = false;           // The connection has ended.
  asio::cancellation_signal stop_reading_;
  asio::cancellation_signal stop_closing_;
};

void WebSockets::Serve(Transport transport, std::shared_ptr<const WebSocketUpgrade> upgrade,
                       CredentialPtr credential) {
  auto connection = std::make_shared<WebSocketConnection>(
      std::move(transport), std::move(upgrade), std::move(credential), shared_from_this());
  connection->Start();
  if (draining_) connection->Close(WebSocketCloseCode::kGoingAway, "");
}

void WebSockets::Expel(absl::Time now) {
  const auto is_over = [now](const WebSocketConnection* each) { return each->IsOver(now); };
  if (absl::c_none_of(open_, is_over)) return;
  // A copy, because a connection that is not upgraded yet ends at once.
  const std::vector<WebSocketConnection*> open(open_.begin(), open_.end());
  for (WebSocketConnection* connection : open) {
    if (!is_over(connection)) continue;
    connection->Close(WebSocketCloseCode::kPolicyViolation, "The token is not valid any more.");
  }
}

void WebSockets::Drain(std::function<void()> when_changed) {
  draining_ = true;
  when_changed_ = std::move(when_changed);
  // A copy, because a connection that is not upgraded yet ends at once.
  const std::vector<WebSocketConnection*> open(open_.begin(), open_.end());
  for (WebSocketConnection* connection : open) {
    connection->Close(WebSocketCloseCode::kGoingAway, "The gateway stops.");
  }
}

void WebSockets::Remove(WebSocketConnection* connection) {
  if (open_.erase(connection) > 0 && when_changed_ != nullptr) when_changed_();
}

}  // namespace callslip::gateway
