#include "gateway/http/listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "common/status_macros.h"
#include "common/unix_socket.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using Endpoint = asio::generic::stream_protocol::endpoint;

absl::StatusOr<Endpoint> EndpointOf(const Address& address) {
  if (address.is_unix()) {
    RETURN_IF_ERROR(PrepareSocketPath(address.unix_path));
    return Endpoint(asio::local::stream_protocol::endpoint(address.unix_path));
  }
  boost::system::error_code error;
  const auto host =
      asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address.host, "\" is not an IP address that can be listened on"));
  }
  return Endpoint(asio::ip::tcp::endpoint(host, address.port));
}

uint16_t PortOf(const Endpoint& endpoint) {
  asio::ip::tcp::endpoint tcp;
  tcp.resize(endpoint.size());
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return tcp.port();
}

// 0 if there is none.
ino_t FileAt(const std::string& path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const asio::any_io_executor& executor,
                                                         const Address& address) {
  std::unique_ptr<Listener> listener(new Listener(executor));
  RETURN_IF_ERROR(listener->Bind(address));
  return listener;
}

absl::Status Listener::Bind(const Address& address) {
  ASSIGN_OR_RETURN(const Endpoint endpoint, EndpointOf(address));
  boost::system::error_code error;
  const auto failed = [&] {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", error.message()));
  };
  if (acceptor_.open(endpoint.protocol(), error)) return failed();
  if (address.is_unix()) {
    // So that the file never has more permissions than these.
    fchmod(acceptor_.native_handle(), 0600);
  } else {
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (acceptor_.bind(endpoint, error)) return failed();
  address_ = address;
  if (address.is_unix()) {
    file_ = FileAt(address.unix_path);
    chmod(address.unix_path.c_str(), SocketMode(address.unix_path));
  }
  if (acceptor_.listen(asio::socket_base::max_listen_connections, error)) return failed();
  if (!address.is_unix()) address_.port = PortOf(acceptor_.local_endpoint());
  return absl::OkStatus();
}

void Listener::Close() {
  // Before closing: afterwards another process may own the path.
  if (acceptor_.is_open() && file_ != 0 && FileAt(address_.unix_path) == file_) {
    unlink(address_.unix_path.c_str());
  }
  boost::system::error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace callslip::gateway
