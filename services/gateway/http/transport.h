#ifndef CALLSLIP_GATEWAY_HTTP_TRANSPORT_H_
#define CALLSLIP_GATEWAY_HTTP_TRANSPORT_H_

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

// One peer's bytes, over TCP or a Unix-domain socket, and under TLS or not. What Connection and
// WebSocketConnection need of a socket, and no more; and one of Asio's streams, for whoever
// composes operations. Without TLS each call is the socket's own.
//
// TLS works on the kernel's buffers, not on buffers of its own: what has not been read is still in
// the socket, which tells that it is readable; but for the rest of a record, which pending() tells.
//
// Not to be moved while an operation is under way.
class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;
  using Error = boost::system::error_code;

  // `socket` does not block. `tls`, where there is one, is a server's session before its handshake.
  // `place` is kept until the end.
  explicit Transport(Socket socket, SslPtr tls = nullptr, std::shared_ptr<void> place = nullptr);
  Transport(Transport&&) noexcept;
  ~Transport();

  executor_type get_executor() { return socket_.get_executor(); }

  // The handshake, before anything else is read or written.
  enum class Handshake {
    kDone,
    kRead,   // Go on once it is readable.
    kWrite,  // Go on once it is writable.
    // No TLS from now on. The peer has been told why, as TLS does, but for the second one.
    kFailed,
    kPlainHttp,  // It speaks HTTP without TLS.
  };
  bool needs_handshake() const { return tls_ != nullptr && !tls_->established; }
  Handshake Shake();

  // The AddressKey() of the peer.
  const std::string& address() const { return address_; }
  // The names in the certificate that the peer has shown; null where it has shown none.
  const PeerNamesPtr& peer_names() const { return peer_names_; }

  // As those of a socket that does not block: would_block where it would.
  template <typename Buffers>
  size_t read_some(const Buffers& buffers, Error& error) {
    if (tls_ == nullptr) return socket_.read_some(buffers, error);
    return TlsRead(FirstOf<boost::asio::mutable_buffer>(buffers), error);
  }
  // With TLS, what is small becomes one record.
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

  // Returns once there is something to read, or the end of it.
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

  // Whether the peer may still send; false once it has closed its side, even where it has sent
  // something before that is still to be read.
  bool IsPeerOpen();

  // Says that nothing more comes.
  void ShutdownSend();
  // Ends what is awaited.
  void Cancel();
  // The same, and the connection with it.
  void Close();

 private:
  // What a record can hold.
  static constexpr size_t kMaxRecordBytes = 16 << 10;

  struct Tls {
    SslPtr session;  // Null once it is closed.
    bool established = false;
    bool broken = false;  // By an error after which OpenSSL must not be used for it.
  };

  // Tries an operation of TLS, and again whenever it may succeed.
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
      // Not from within the call that has begun it.
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

  // The first one that is not empty.
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
  // Of an operation that has not succeeded.
  Error TlsError(int result);
  void CloseTls();

  Socket socket_;
  std::unique_ptr<Tls> tls_;
  std::string address_;
  PeerNamesPtr peer_names_;
  std::shared_ptr<void> place_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_TRANSPORT_H_
