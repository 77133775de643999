#include "http_client/http_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/address.h"
#include "common/status_macros.h"

namespace callslip {
namespace {

// Repeats `call`, which returns a negative value on failure, while a signal interrupts it.
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

// Returns a connected socket, or a negative value with errno if that fails.
int ConnectTo(const sockaddr* address, socklen_t size, absl::Duration timeout) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  BoundBlocking(fd, timeout);
  if (address->sa_family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  if (connect(fd, address, size) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error == EINPROGRESS ? ETIMEDOUT : error;
  return -1;
}

absl::StatusOr<int> ConnectInFiles(const std::string& path, absl::Duration timeout) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) {
    return absl::UnavailableError("the path is too long for a socket");
  }
  std::memcpy(name.sun_path, path.data(), path.size());
  const int fd = ConnectTo(reinterpret_cast<const sockaddr*>(&name), sizeof(name), timeout);
  if (fd < 0) return absl::UnavailableError(std::strerror(errno));
  return fd;
}

absl::StatusOr<int> ConnectOverTcp(const Endpoint& endpoint, absl::Duration timeout) {
  ASSIGN_OR_RETURN(const std::vector<SocketAddress> addresses, endpoint.lookup->Wait(timeout));
  for (const SocketAddress& address : addresses) {
    const int fd =
        ConnectTo(reinterpret_cast<const sockaddr*>(&address.storage), address.size, timeout);
    if (fd >= 0) return fd;
  }
  return absl::UnavailableError(std::strerror(errno));
}

}  // namespace

bool Endpoint::IsPrivate() const {
  return is_tls || !unix_path.empty() || Address{.host = host}.IsLoopback();
}

Endpoint EndpointOf(absl::string_view origin) {
  Endpoint endpoint;
  if (absl::ConsumePrefix(&origin, "unix:")) {
    endpoint.unix_path = std::string(origin);
    return endpoint;
  }
  endpoint.is_tls = absl::ConsumePrefix(&origin, "https://");
  if (!endpoint.is_tls) absl::ConsumePrefix(&origin, "http://");
  const size_t bracket = origin.find(']');
  const size_t colon = origin.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  absl::string_view host = origin.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  endpoint.host = std::string(host);
  endpoint.port = endpoint.is_tls ? "443" : "80";
  if (colon != absl::string_view::npos) endpoint.port = std::string(origin.substr(colon + 1));
  endpoint.lookup = std::make_shared<NameLookup>(endpoint.host, endpoint.port);
  return endpoint;
}

absl::StatusOr<std::unique_ptr<HttpConnection>> HttpConnection::Connect(const Endpoint& endpoint,
                                                                        absl::Duration timeout) {
  ASSIGN_OR_RETURN(const int fd, endpoint.unix_path.empty()
                                     ? ConnectOverTcp(endpoint, timeout)
                                     : ConnectInFiles(endpoint.unix_path, timeout));
  std::unique_ptr<HttpConnection> connection(new HttpConnection(fd));
  if (endpoint.is_tls) {
    ASSIGN_OR_RETURN(connection->tls_, endpoint.tls->Connect(fd, endpoint.host));
  }
  return connection;
}

HttpConnection::~HttpConnection() { close(fd_); }

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
  if (tls_ == nullptr) return SendPlain(head, body);
  if (head.size() + body.size() <= SSL3_RT_MAX_PLAIN_LENGTH) {
    return SendTls(absl::StrCat(head, body));  // One record.
  }
  return SendTls(head) && SendTls(body);
}

bool HttpConnection::SendTls(absl::string_view bytes) {
  while (!bytes.empty()) {
    size_t sent = 0;
    if (SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent) != 1) return false;
    bytes.remove_prefix(sent);
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
  if (tls_ == nullptr) return Uninterrupted([&] { return recv(fd_, bytes, size, 0); });
  const int result = SSL_read(tls_.get(), bytes, static_cast<int>(size));
  if (result > 0) return result;
  // A TLS connection that ends without the peer's close notification may have been cut by an
  // attacker.
  return SSL_get_error(tls_.get(), result) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

void HttpConnection::Shutdown() { shutdown(fd_, SHUT_RDWR); }

}  // namespace callslip
