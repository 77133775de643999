#include "tracker/postgres/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

// The socket of this process that is connected to `port`; -1 if there is none.
int SocketTo(in_port_t port) {
  for (int file = 0; file < 1024; ++file) {
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    if (getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET && peer.sin_port == port) {
      return file;
    }
  }
  return -1;
}

int Option(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, option, &value, &size), 0);
  return value;
}

// A machine that fails does not close its connections. Keepalive notices that within seconds
// instead of hours.
TEST(PostgresConnectionTest, KeepaliveDetectsFailedServer) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  absl::Status opened;
  std::thread client([&] {
    opened =
        PostgresConnection::Open(
            absl::StrCat("postgres://a@127.0.0.1:", ntohs(address.sin_port), "/a?sslmode=disable"))
            .status();
  });
  const int server = accept(listener, nullptr, nullptr);
  // All options are set before the first byte is sent.
  char byte = 0;
  EXPECT_EQ(read(server, &byte, 1), 1);
  const int socket = SocketTo(address.sin_port);
  EXPECT_GE(socket, 0);
  EXPECT_EQ(Option(socket, TCP_KEEPIDLE), 2);
  EXPECT_EQ(Option(socket, TCP_KEEPINTVL), 2);
  EXPECT_EQ(Option(socket, TCP_KEEPCNT), 3);
  EXPECT_EQ(Option(socket, TCP_USER_TIMEOUT), 8000);
  close(server);
  close(listener);
  client.join();
  EXPECT_EQ(opened.code(), absl::StatusCode::kUnavailable) << opened;
}

TEST(PostgresConnectionTest, UrlErrorDoesNotQuoteUrl) {
  for (const char* url : {"postgres://a:secret%zz@db/c", "postgres://db/c?secret",
                          "postgres://db/c?secret=1", "postgres://[secret/c"}) {
    const absl::Status refused = PostgresConnection::Open(url).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("PGPASSFILE"));
    EXPECT_THAT(std::string(refused.message()), ::testing::Not(::testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace callslip::tracker
