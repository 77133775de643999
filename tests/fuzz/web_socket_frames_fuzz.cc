// A peer's bytes on a WebSocket. On any input, in any pieces: the gateway writes whole frames, with
// texts in UTF-8 that its peer has sent, gives a reason for a close, and keeps nothing of a peer
// that has left.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boost/asio/io_context.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "common/text_scan.h"
#include "fuzz/require.h"
#include "gateway/http/web_sockets.h"

namespace callslip::gateway {
namespace {

// Small, so that an input exceeds them.
constexpr WebSocketLimits kLimits{.message_bytes = 200,
                                  .unread_bytes = 600,
                                  .unsent_bytes = 1'000,
                                  .close_time = std::chrono::milliseconds(1)};
// The largest frame that holds no more than message_bytes, and those of pings and closes.
constexpr size_t kMaxInFrame = 200;

boost::asio::awaitable<void> Echo(std::shared_ptr<WebSocket> socket) {
  for (;;) {
    std::optional<std::string> message = co_await socket->Read();
    if (!message.has_value()) co_return;
    Require(message->size() <= kLimits.message_bytes, "a bounded message");
    Require(IsUtf8(*message), "text in UTF-8");
    socket->Send(*std::move(message));
  }
}

// Checks the gateway's bytes after the head of its answer.
void RequireFrames(absl::string_view bytes) {
  bool closed = false;
  while (!bytes.empty()) {
    Require(!closed, "nothing after a close");
    if (bytes.size() < 2) return;  // The peer left in the middle of it.
    const auto first = static_cast<unsigned char>(bytes[0]);
    size_t size = static_cast<unsigned char>(bytes[1]);
    size_t head = 2;
    Require(size < 127, "a frame that is not masked, and not endless");
    if (size == 126) {
      if (bytes.size() < 4) return;
      size = static_cast<unsigned char>(bytes[2]) << 8 | static_cast<unsigned char>(bytes[3]);
      head = 4;
    }
    Require(size <= kMaxInFrame, "a bounded frame");
    if (bytes.size() < head + size) return;
    const absl::string_view payload = bytes.substr(head, size);
    switch (first) {
      case 0x81: Require(IsUtf8(payload), "text in UTF-8"); break;
      case 0x88:
        Require(size >= 2, "a close that says why");
        closed = true;
        break;
      case 0x89:
      case 0x8A: Require(size <= 125, "a short ping or pong"); break;
      default: Require(false, "a frame of a kind that is sent");
    }
    bytes.remove_prefix(head + size);
  }
}

// The peer's end of a connection.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  ~Peer() { Close(); }

  void Write(absl::string_view bytes) {
    // The other end may be closed already.
    (void)send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void Read(std::string& into) {
    char buffer[4'096];
    for (;;) {
      const ssize_t got = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (got <= 0) return;
      into.append(buffer, got);
    }
  }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

void Talk(absl::string_view bytes, size_t piece) {
  int fds[2];
  Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0, "sockets");
  Peer peer(fds[1]);
  boost::asio::io_context context(1);
  const auto room = std::make_shared<ByteBudget>(1 << 20, 1 << 20);
  const auto sockets = std::make_shared<WebSockets>(kLimits, room, room);
  sockets->Serve(Transport(Transport::Socket(
                     context, boost::asio::generic::stream_protocol(AF_UNIX, 0), fds[0])),
                 std::make_shared<WebSocketUpgrade>(
                     WebSocketUpgrade{.key = "dGhlIHNhbXBsZSBub25jZQ==", .server = Echo}),
                 nullptr);
  std::string written;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    peer.Write(bytes.substr(at, piece));
    context.poll();
    peer.Read(written);
  }
  context.poll();
  peer.Read(written);
  peer.Close();
  // Returns as soon as all work is done.
  context.run_for(std::chrono::seconds(10));
  Require(context.stopped(), "an end of all that was under way");
  Require(sockets->size() == 0, "nothing of who has gone");
  const size_t head = written.find("\r\n\r\n");
  Require(absl::string_view(written).substr(0, 12) == "HTTP/1.1 101" && head != std::string::npos,
          "an upgrade");
  RequireFrames(absl::string_view(written).substr(head + 4));
}

}  // namespace
}  // namespace callslip::gateway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  callslip::gateway::Talk(bytes, size_t{1} + data[0]);
  return 0;
}
