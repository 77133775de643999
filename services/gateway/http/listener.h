#pragma once

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/basic_socket_acceptor.hpp"
#include "boost/asio/generic/stream_protocol.hpp"
#include "common/address.h"

namespace callslip::gateway {

// A socket that listens at one address, over TCP or in the file system. Use on its executor.
class Listener {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  // INVALID_ARGUMENT if it is not an address to listen on, UNAVAILABLE if it is in use or not this
  // machine's. A Unix-domain socket is accessible to its user, or its group; see SocketMode(). One
  // that a dead process left behind is replaced.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(
      const boost::asio::any_io_executor& executor, const Address& address);
  ~Listener() { Close(); }

  Acceptor& acceptor() { return acceptor_; }
  // With the port that was bound.
  const Address& address() const { return address_; }

  // Ends pending waits and removes the socket's file. Idempotent.
  void Close();

 private:
  explicit Listener(const boost::asio::any_io_executor& executor) : acceptor_(executor) {}
  absl::Status Bind(const Address& address);

  Acceptor acceptor_;
  Address address_;
  ino_t file_ = 0;  // Inode of the Unix-domain socket's own file.
};

}  // namespace callslip::gateway
