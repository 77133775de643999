#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boost/asio/async_result.hpp"
#include "boost/asio/buffer.hpp"
#include "boost/asio/compose.hpp"
#include "boost/asio/error.hpp"
#include "boost/asio/generic/stream_protocol.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/socket_base.hpp"
#include "tls/openssl.h"

namespace callslip::gateway {

using PeerNamesPtr = std::shared_ptr<const std::vector<std::string>>;

// One peer's byte stream, over TCP or a Unix-domain socket, with or without TLS. It has only what
// Connection and WebSocketConnection need of a socket, and is an Asio stream for composed
// operations. Without TLS each call is the socket's own.
//
// TLS uses the kernel's buffers and none of its own: unread data is still in the socket, which
// reports that it is readable. The exception is the rest of a record, which pending() reports.
//
// Do not move this while an operation is in progress.
class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;
  using Error = boost::system::error_code;

  // `socket` must be non-blocking. `tls`, if set, is a server's session before its handshake.
  // `place` is kept until destruction.
  explicit Transport(Socket socket, SslPtr tls = nullptr, std::shared_ptr<void> place = nullptr);
  Transport(Transport&&) noexcept;
  ~Transport();

  executor_type get_executor() { return socket_.get_executor(); }

  // The handshake; it must complete before any other read or write.
  enum class Handshake {
    kDone,
    kRead,   // Continue once it is readable.
    kWrite,  // Continue once it is writable.
    // No TLS from now on. The peer has received a TLS alert with the reason, except for kPlainHttp.
    kFailed,
    kPlainHttp,  // The peer speaks HTTP without TLS.
  };
  bool needs_handshake() const { return tls_ != nullptr && !tls_->established; }
  Handshake Shake();

  const std::string& address() const { return address_; }
  // The names in the peer's certificate; null if it has shown none.
  const PeerNamesPtr& peer_names() const { return peer_names_; }

  // Like those of a non-blocking socket: would_block if they would block.
  template <typename Buffers>
  size_t read_some(const Buffers& buffers, Error& error) {
    if (tls_ == nullptr) return socket_.read_some(buffers, error);
    return TlsRead(FirstOf<boost::asio::mutable_buffer>(buffers), error);
  }
  // With TLS, small buffers become one record.
  template <typename Buffers>
  size_t write_some(const Buffers& buffers, Error& error) {
    if (tls_ == nullptr) return socket_.write_some(buffers, error);
    std::array<char, kMaxRecordBytes> record;
    const auto first = FirstOf<boost::asio::const_buffer>(buffers);
    if (first.size() >= record.size() || first.size() == boost::asio::buffer_size(buffers)) {
      return TlsWrite(first, error);
    }
    const size_t size = boost::asio::buffer_copy(boost::asio::buffer(record), buffers);
    return TlsWrite(boost::asio::buffer(record, size), error);
  }

  // Calls `handler` once there is something to read, or the end of the stream.
  template <typename Handler>
  void AsyncWaitReadable(Handler handler) {
    if (pending()) {
      boost::asio::post(get_executor(), [handler = std::move(handler)]() mutable { handler({}); });
    } else {
      socket_.async_wait(boost::asio::socket_base::wait_read, std::move(handler));
    }
  }
  template <typename Handler>
  void AsyncWaitWritable(Handler handler) {
    socket_.async_wait(boost::asio::socket_base::wait_write, std::move(handler));
  }

  // The operations of an AsyncStream.
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_ == nullptr) return socket_.async_read_some(into, std::move(handler));
          Compose([this, into](Error& error) { return read_some(into, error); },
                  boost::asio::socket_base::wait_read, std::move(handler));
        },
        token, buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_ == nullptr) return socket_.async_write_some(from, std::move(handler));
          Compose([this, from](Error& error) { return write_some(from, error); },
                  boost::asio::socket_base::wait_write, std::move(handler));
        },
        token, buffers);
  }

  // Whether the peer can still send. False once it has closed its side, even if data that it sent
  // before is still unread.
  bool IsPeerOpen();

  // Signals the end of sending.
  void ShutdownSend();
  // Ends pending waits.
  void Cancel();
  // Ends pending waits and closes the connection.
  void Close();

 private:
  // The maximum size of a record.
  static constexpr size_t kMaxRecordBytes = 16 << 10;

  struct Tls {
    SslPtr session;  // Null once it is closed.
    bool established = false;
    bool broken = false;  // By an error after which OpenSSL must not use the session.
  };

  // Tries a TLS operation, and retries whenever it can succeed.
  template <typename Attempt>
  struct Operation {
    Transport* transport;
    Attempt attempt;
    boost::asio::socket_base::wait_type wait;
    Error result;
    size_t bytes = 0;
    enum { kBegun, kWaited, kDone } state = kBegun;

    template <typename Self>
    void operator()(Self& self, Error error = {}) {
      if (state == kDone) return self.complete(result, bytes);
      if (!error) bytes = attempt(error);
      if (error == boost::asio::error::would_block) {
        state = kWaited;
        return transport->socket_.async_wait(wait, std::move(self));
      }
      if (state == kWaited) return self.complete(error, bytes);
      // Not from within the call that started it.
      state = kDone;
      result = error;
      boost::asio::post(transport->get_executor(), std::move(self));
    }
  };

  template <typename Attempt, typename Handler>
  void Compose(Attempt attempt, boost::asio::socket_base::wait_type wait, Handler handler) {
    boost::asio::async_compose<Handler, void(Error, size_t)>(
        Operation<Attempt>{this, std::move(attempt), wait}, handler, socket_);
  }

  // The first buffer that is not empty.
  template <typename Buffer, typename Buffers>
  static Buffer FirstOf(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto it = boost::asio::buffer_sequence_begin(buffers); it != end; ++it) {
      if (Buffer(*it).size() > 0) return Buffer(*it);
    }
    return {};
  }

  bool pending() const {
    return tls_ != nullptr && tls_->session != nullptr && SSL_pending(tls_->session.get()) > 0;
  }
  size_t TlsRead(boost::asio::mutable_buffer buffer, Error& error);
  size_t TlsWrite(boost::asio::const_buffer buffer, Error& error);
  // Of a failed operation.
  Error TlsError(int result);
  void CloseTls();

  Socket socket_;
  std::unique_ptr<Tls> tls_;
  std::string address_;
  PeerNamesPtr peer_names_;
  std::shared_ptr<void> place_;
};

}  // namespace callslip::gateway
