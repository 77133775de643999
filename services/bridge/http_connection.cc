#include "bridge/http_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace callslip::bridge {
namespace {

// Repeats `call`, which answers less than 0 on failure, while only a signal has ended it.
template <typename Call>
ssize_t Uninterrupted(const Call& call) {
  while (true) {
    errno = 0;
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

void BoundBlocking(int fd, absl::Duration longest) {
  const timeval time = absl::ToTimeval(longest);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

// A connected socket, or -1.
int ConnectTo(const addrinfo& address, absl::Duration timeout) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  BoundBlocking(fd, timeout);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return fd;
  close(fd);
  return -1;
}

// Made once; nullptr where the machine's certificates cannot be read.
SSL_CTX* TlsContext() {
  static SSL_CTX* const context = [] {
    SSL_CTX* made = SSL_CTX_new(TLS_client_method());
    if (made == nullptr) return made;
    SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_default_verify_paths(made);
    return made;
  }();
  return context;
}

// Has the handshake check that the certificate is one for `host`.
bool ExpectHost(SSL* ssl, const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return true;
  return SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

Endpoint EndpointOf(absl::string_view origin) {
  Endpoint endpoint;
  endpoint.is_tls = absl::ConsumePrefix(&origin, "https://");
  if (!endpoint.is_tls) absl::ConsumePrefix(&origin, "http://");
  const size_t bracket = origin.find(']');
  const size_t colon = origin.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  absl::string_view host = origin.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  endpoint.host = std::string(host);
  endpoint.port = endpoint.is_tls ? "443" : "80";
  if (colon != absl::string_view::npos) endpoint.port = std::string(origin.substr(colon + 1));
  return endpoint;
}

std::unique_ptr<HttpConnection> HttpConnection::Connect(const Endpoint& endpoint,
                                                        absl::Duration timeout) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  if (getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &addresses) != 0) {
    return nullptr;
  }
  int fd = -1;
  for (const addrinfo* at = addresses; at != nullptr && fd < 0; at = at->ai_next) {
    fd = ConnectTo(*at, timeout);
  }
  freeaddrinfo(addresses);
  if (fd < 0) return nullptr;
  std::unique_ptr<HttpConnection> connection(new HttpConnection(fd));
  if (endpoint.is_tls && !connection->StartTls(endpoint.host)) return nullptr;
  return connection;
}

HttpConnection::~HttpConnection() {
  SSL_free(ssl_);
  close(fd_);
}

bool HttpConnection::StartTls(const std::string& host) {
  SSL_CTX* const context = TlsContext();
  if (context == nullptr) return false;
  ssl_ = SSL_new(context);
  return ssl_ != nullptr && ExpectHost(ssl_, host) && SSL_set_fd(ssl_, fd_) == 1 &&
         SSL_connect(ssl_) == 1;
}

bool HttpConnection::IsQuiet() const {
  char byte;
  return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void HttpConnection::SetSilence(absl::Duration silence) {
  const int64_t seconds = absl::ToInt64Seconds(silence + absl::Seconds(1) - absl::Nanoseconds(1));
  if (seconds == silence_seconds_) return;
  BoundBlocking(fd_, absl::Seconds(seconds));
  silence_seconds_ = seconds;
}

bool HttpConnection::Send(absl::string_view head, absl::string_view body) {
  if (ssl_ == nullptr) return SendPlain(head, body);
  for (absl::string_view part : {head, body}) {
    if (part.empty()) continue;
    const int size = static_cast<int>(part.size());
    if (Uninterrupted([&] { return SSL_write(ssl_, part.data(), size); }) != size) return false;
  }
  return true;
}

bool HttpConnection::SendPlain(absl::string_view head, absl::string_view body) {
  while (!head.empty() || !body.empty()) {
    iovec parts[] = {{const_cast<char*>(head.data()), head.size()},
                     {const_cast<char*>(body.data()), body.size()}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = Uninterrupted([&] { return sendmsg(fd_, &message, MSG_NOSIGNAL); });
    if (sent < 0) return false;
    const size_t of_head = std::min(static_cast<size_t>(sent), head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(static_cast<size_t>(sent) - of_head);
  }
  return true;
}

ssize_t HttpConnection::Receive(char* bytes, size_t size) {
  return Uninterrupted([&]() -> ssize_t {
    return ssl_ == nullptr ? recv(fd_, bytes, size, 0)
                           : SSL_read(ssl_, bytes, static_cast<int>(size));
  });
}

void HttpConnection::Shutdown() { shutdown(fd_, SHUT_RDWR); }

}  // namespace callslip::bridge
