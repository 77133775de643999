// Keepalive of AsyncServer, with an HTTP/2 peer that is not gRPC and whose pings are its own.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/status_matchers.h"
#include "gtest/gtest.h"
#include "tracker/server/async_server.h"

namespace callslip::tracker {
namespace {

// Of both sides of a connection in this program; more than it has open.
constexpr int kMaxFiles = 1000;
// More than gRPC sends, or takes, by default while no data flows.
constexpr int kManyPings = 20;

// Connected, without any call.
class IdlePeer {
 public:
  enum class Frame { kPing, kPong, kGoAway, kOther, kEnd };

  explicit IdlePeer(const Address& address, bool says_nothing = false) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    if (says_nothing) return;
    // With empty settings, and with an acknowledgement of those of the server.
    Send(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + Head(0, '\x4', 0) +
         Head(0, '\x4', kAcknowledged));
  }
  ~IdlePeer() { close(fd_); }
  IdlePeer(const IdlePeer&) = delete;
  IdlePeer& operator=(const IdlePeer&) = delete;

  void Ping() { Send(Head(kPingBytes, kPing, 0) + std::string(kPingBytes, 'p')); }
  // Answers the ping that came last.
  void Pong() { Send(Head(kPingBytes, kPing, kAcknowledged) + payload_); }

  Frame Next() {
    const std::string head = Receive(kHeadBytes);
    if (head.empty()) return Frame::kEnd;
    payload_ =
        Receive((static_cast<unsigned char>(head[1]) << 8) | static_cast<unsigned char>(head[2]));
    if (head[3] == kGoAway) return Frame::kGoAway;
    if (head[3] != kPing) return Frame::kOther;
    return head[4] == kAcknowledged ? Frame::kPong : Frame::kPing;
  }

  // Of the last frame.
  const std::string& payload() const { return payload_; }

  // Skips frames that do not concern pings.
  Frame NextOfInterest() {
    Frame next = Next();
    while (next == Frame::kOther) next = Next();
    return next;
  }

 private:
  static constexpr size_t kHeadBytes = 9;
  static constexpr char kPingBytes = 8;
  static constexpr char kPing = 6;
  static constexpr char kGoAway = 7;
  static constexpr char kAcknowledged = 1;

  static std::string Head(char bytes, char type, char flags) {
    return {'\0', '\0', bytes, type, flags, '\0', '\0', '\0', '\0'};
  }

  // The server may have hung up.
  void Send(const std::string& bytes) { (void)send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  std::string Receive(size_t count) {
    std::string bytes(count, '\0');
    if (recv(fd_, bytes.data(), count, MSG_WAITALL) != static_cast<ssize_t>(count)) return "";
    return bytes;
  }

  int fd_ = -1;
  std::string payload_;
};

using Frame = IdlePeer::Frame;

Address Start(AsyncServer& server, const Keepalive& keepalive) {
  return *server.Start(*ParseAddress("127.0.0.1:0"), 1, keepalive);
}

TEST(AsyncServerKeepaliveTest, IdlePeerIsPingedIndefinitely) {
  AsyncServer server;
  IdlePeer peer(Start(server, {.ping_after = absl::Milliseconds(1)}));
  for (int i = 0; i < kManyPings; ++i) {
    ASSERT_EQ(peer.NextOfInterest(), Frame::kPing) << i;
    peer.Pong();
  }
}

TEST(AsyncServerKeepaliveTest, PeerThatDoesNotAnswerPingsIsDisconnected) {
  AsyncServer server;
  IdlePeer peer(
      Start(server, {.ping_after = absl::Milliseconds(1), .answer_within = absl::Milliseconds(1)}));
  ASSERT_EQ(peer.NextOfInterest(), Frame::kPing);
  Frame next = peer.Next();
  while (next != Frame::kEnd) next = peer.Next();
}

TEST(AsyncServerKeepaliveTest, PeerThatSendsNothingIsDisconnected) {
  AsyncServer server;
  IdlePeer peer(Start(server, {.begun_within = absl::Milliseconds(1)}), /*says_nothing=*/true);
  Frame next = peer.Next();
  while (next != Frame::kEnd) next = peer.Next();
}

TEST(AsyncServerKeepaliveTest, PeerCanPingWithoutACall) {
  AsyncServer server;
  IdlePeer peer(Start(server, {.peers_ping_every = absl::ZeroDuration()}));
  for (int i = 0; i < kManyPings; ++i) {
    peer.Ping();
    ASSERT_EQ(peer.NextOfInterest(), Frame::kPong) << i;
  }
}

TEST(AsyncServerKeepaliveTest, PeerThatPingsTooOftenGetsGoAway) {
  AsyncServer server;
  IdlePeer peer(Start(server, {}));
  for (int i = 0; i < kManyPings; ++i) peer.Ping();
  Frame next = peer.NextOfInterest();
  while (next == Frame::kPong) next = peer.NextOfInterest();
  EXPECT_EQ(next, Frame::kGoAway);
}

// Such as a frozen gateway. gRPC alone would wait for it, and then close without an error.
TEST(AsyncServerKeepaliveTest, StopDoesNotWaitForAPeerThatDoesNotAnswer) {
  AsyncServer server;
  IdlePeer peer(Start(server, {}));
  ASSERT_EQ(peer.Next(), Frame::kOther);  // The server's settings.
  server.Stop(absl::InfiniteDuration());
  std::string last_goaway;
  for (Frame next = peer.Next(); next != Frame::kEnd; next = peer.Next()) {
    if (next == Frame::kGoAway) last_goaway = peer.payload();
  }
  // The last stream and the error code, 4 bytes each.
  ASSERT_GE(last_goaway.size(), 8);
  EXPECT_NE(last_goaway[7], '\0');
}

// The kernel has the setting as well, which shows that the defaults have reached the connection.
TEST(AsyncServerKeepaliveTest, DefaultsReachTheConnection) {
  AsyncServer server;
  const Address address = Start(server, {});
  IdlePeer peer(address);
  // The server's settings: it sends them after the setup of its own end.
  ASSERT_EQ(peer.Next(), Frame::kOther);
  int found = 0;
  for (int fd = 0; fd < kMaxFiles; ++fd) {
    // gRPC listens on IPv6 sockets where it can; the port is at the same place.
    sockaddr_in6 name = {};
    socklen_t size = sizeof(name);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) continue;
    if (ntohs(name.sin6_port) != address.port) continue;
    int listens = 0;
    size = sizeof(listens);
    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    if (listens != 0) continue;
    int timeout_ms = 0;
    size = sizeof(timeout_ms);
    EXPECT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, &size), 0);
    EXPECT_EQ(timeout_ms, absl::ToInt64Milliseconds(Keepalive{}.answer_within));
    ++found;
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace callslip::tracker
