#include "gateway/http/transport.h"

#include <poll.h>

#include "common/log.h"
#include "gateway/http/address_quota.h"
#include "openssl/err.h"

namespace callslip::gateway {

namespace asio = boost::asio;

Transport::Transport(Socket socket, SslPtr tls, std::shared_ptr<void> place)
    : socket_(std::move(socket)), place_(std::move(place)) {
  Error error;
  const auto peer = socket_.remote_endpoint(error);
  if (!error) address_ = AddressKey(peer);
  if (tls == nullptr) return;
  UseSocket(tls.get(), socket_.native_handle());
  tls_ = std::make_unique<Tls>();
  tls_->session = std::move(tls);
}

Transport::Transport(Transport&&) noexcept = default;

Transport::~Transport() = default;

Transport::Handshake Transport::Shake() {
  if (tls_ == nullptr || tls_->session == nullptr) return Handshake::kFailed;
  SSL* const session = tls_->session.get();
  ERR_clear_error();
  const int result = SSL_do_handshake(session);
  if (result == 1) {
    tls_->established = true;
    std::vector<std::string> names = PeerNames(session);
    if (!names.empty()) {
      peer_names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
    }
    return Handshake::kDone;
  }
  switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ: return Handshake::kRead;
    case SSL_ERROR_WANT_WRITE: return Handshake::kWrite;
    default: break;
  }
  const bool is_http = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
  Log(LogLevel::kDebug, "TLS handshake failed",
      {{"reason", ERR_peek_error() == 0 ? "the peer has left" : TakeOpenSslError()}});
  tls_ = nullptr;
  return is_http ? Handshake::kPlainHttp : Handshake::kFailed;
}

size_t Transport::TlsRead(asio::mutable_buffer buffer, Error& error) {
  error = {};
  if (tls_->session == nullptr || tls_->broken) {
    error = asio::error::bad_descriptor;
    return 0;
  }
  if (buffer.size() == 0) return 0;
  ERR_clear_error();
  size_t bytes = 0;
  const int result = SSL_read_ex(tls_->session.get(), buffer.data(), buffer.size(), &bytes);
  if (result != 1) error = TlsError(result);
  return bytes;
}

size_t Transport::TlsWrite(asio::const_buffer buffer, Error& error) {
  error = {};
  if (tls_->session == nullptr || tls_->broken) {
    error = asio::error::bad_descriptor;
    return 0;
  }
  if (buffer.size() == 0) return 0;
  ERR_clear_error();
  size_t bytes = 0;
  const int result = SSL_write_ex(tls_->session.get(), buffer.data(), buffer.size(), &bytes);
  if (result != 1) error = TlsError(result);
  return bytes;
}

// Without renegotiation a read never has to write first, nor a write to read: an operation only
// blocks on its own direction.
Transport::Error Transport::TlsError(int result) {
  switch (SSL_get_error(tls_->session.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN: return asio::error::eof;
    default: tls_->broken = true; return asio::error::connection_reset;
  }
}

bool Transport::IsPeerOpen() {
  if (tls_ != nullptr) {
    if (tls_->session == nullptr || tls_->broken) return false;
    // Processes records about the session itself, such as its end.
    ERR_clear_error();
    char byte;
    size_t bytes = 0;
    const int result = SSL_peek_ex(tls_->session.get(), &byte, 1, &bytes);
    if (result != 1 && TlsError(result) != asio::error::would_block) return false;
  }
  // Detects the end even if there are unread bytes before it.
  pollfd peer = {.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  return poll(&peer, 1, 0) == 0;
}

void Transport::CloseTls() {
  if (tls_ == nullptr || tls_->session == nullptr || tls_->broken || !tls_->established) return;
  ERR_clear_error();
  SSL_shutdown(tls_->session.get());
}

void Transport::ShutdownSend() {
  CloseTls();
  Error ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

void Transport::Cancel() {
  Error ignored;
  socket_.cancel(ignored);
}

void Transport::Close() {
  CloseTls();
  // The session knows the socket by its number, which may soon be reused.
  if (tls_ != nullptr) tls_->session = nullptr;
  Error ignored;
  socket_.close(ignored);
}

}  // namespace callslip::gateway
