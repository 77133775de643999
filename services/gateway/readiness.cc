#include "gateway/readiness.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/generic/stream_protocol.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "common/status_macros.h"
#include "tls/openssl.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using Endpoint = asio::generic::stream_protocol::endpoint;

// A status line is shorter.
constexpr size_t kAnswerBytes = 512;

// Where the gateway of this machine can be reached.
Address TargetOf(const std::vector<Address>& listen) {
  const auto in_files = absl::c_find_if(listen, [](const Address& each) { return each.is_unix(); });
  if (in_files != listen.end()) return *in_files;
  Address target = listen.front();
  // Whoever listens on all addresses also listens on this one.
  const bool any = target.host == "0.0.0.0" || target.host == "::";
  if (any || target.host == "localhost") target.host = "127.0.0.1";
  return target;
}

absl::Status Failed(const Address& target, absl::string_view reason) {
  return absl::UnavailableError(
      absl::StrCat("the gateway at ", target.ToString(), " is not ready: ", reason));
}

// A connected socket that blocks for `timeout` at most in each step.
absl::StatusOr<int> Connect(const Address& target, absl::Duration timeout) {
  Endpoint endpoint;
  if (target.is_unix()) {
    endpoint = asio::local::stream_protocol::endpoint(target.unix_path);
  } else {
    boost::system::error_code error;
    const auto host = asio::ip::make_address(target.host, error);
    if (error) return Failed(target, error.message());
    endpoint = asio::ip::tcp::endpoint(host, target.port);
  }
  const int fd = socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval time = absl::ToTimeval(timeout);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
  if (connect(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return fd;
  const absl::Status failed = Failed(target, std::strerror(errno));
  close(fd);
  return failed;
}

// The beginning of the answer; empty where there is none.
std::string Ask(int fd, const std::string& request, bool is_tls) {
  std::string answer(kAnswerBytes, '\0');
  size_t received = 0;
  if (!is_tls) {
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    received = std::max<ssize_t>(recv(fd, answer.data(), answer.size(), 0), 0);
  } else {
    // Whoever listens at its address is asked no more than whether it is ready: the name in its
    // certificate need not be one for this address.
    const SslContextPtr context = NewTlsContext(TLS_client_method());
    const SslPtr session(SSL_new(context.get()));
    UseSocket(session.get(), fd);
    size_t sent = 0;
    if (SSL_connect(session.get()) == 1 &&
        SSL_write_ex(session.get(), request.data(), request.size(), &sent) == 1) {
      SSL_read_ex(session.get(), answer.data(), answer.size(), &received);
    }
  }
  answer.resize(received);
  return answer;
}

}  // namespace

absl::Status CheckReadiness(const std::vector<Address>& listen, bool is_tls,
                            absl::Duration timeout) {
  const Address target = TargetOf(listen);
  ASSIGN_OR_RETURN(const int fd, Connect(target, timeout));
  const absl::Cleanup close_socket = [fd] { close(fd); };
  const std::string host = target.is_unix() ? "localhost" : target.ToString();
  const std::string answer =
      Ask(fd, absl::StrCat("GET /readyz HTTP/1.1\r\nHost: ", host, "\r\nConnection: close\r\n\r\n"),
          is_tls && !target.is_unix());
  const std::string status_line = answer.substr(0, answer.find("\r\n"));
  if (absl::StrContains(status_line, " 200 ")) return absl::OkStatus();
  if (!status_line.empty()) return Failed(target, status_line);
  return Failed(target, is_tls ? "no answer (with --tls-client-ca this check needs an address "
                                 "unix:PATH in --listen)"
                               : "no answer");
}

}  // namespace callslip::gateway
