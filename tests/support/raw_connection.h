#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace callslip::gateway {

// A bare connection to a port of this machine, for what no client would do.
class RawConnection {
 public:
  explicit RawConnection(uint16_t port, int receive_buffer = 0)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawConnection() { Leave(); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  int fd() const { return fd_; }

  void Leave() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  // Ends both directions; a blocked call in another thread returns.
  void Shutdown() { shutdown(fd_, SHUT_RDWR); }

  // Closes with a reset instead of an orderly end.
  void Abort() {
    const linger now = {1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    Leave();
  }

  // Drops the bytes that the server does not take.
  void Send(const std::string& bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  // Everything up to and including `end`, or until the server closes.
  std::string ReadTo(const std::string& end) {
    std::string all;
    char byte;
    while (!absl::EndsWith(all, end) && recv(fd_, &byte, 1, 0) == 1) all.push_back(byte);
    return all;
  }

  // Exactly `size` bytes, or fewer if the server closes before.
  std::string Read(size_t size) {
    std::string bytes(size, '\0');
    if (size == 0) return bytes;
    const ssize_t received = recv(fd_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(received > 0 ? received : 0);
    return bytes;
  }

  // Until the server closes.
  std::string ReadAll() {
    std::string all;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd_, buffer, sizeof(buffer), 0)) > 0;) all.append(buffer, n);
    return all;
  }

 private:
  int fd_;
};

}  // namespace callslip::gateway
