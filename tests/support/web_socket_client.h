#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "support/raw_connection.h"

namespace callslip::gateway {

// The first byte of a frame: whether it is the last one of its message, and its type.
enum FrameBits : unsigned char {
  kFin = 0x80,
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xA,
};

struct Frame {
  unsigned char first = 0;  // As above; 0 if the server has closed the connection instead.
  std::string payload;

  int close_code() const {
    if (first != (kFin | kClose) || payload.size() < 2) return 0;
    return static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
  }
  std::string close_reason() const { return payload.substr(std::min<size_t>(2, payload.size())); }
};

// A frame as clients send it.
inline std::string Masked(unsigned char first, const std::string& payload) {
  std::string frame(1, static_cast<char>(first));
  const auto append_size = [&](int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
      frame.push_back(static_cast<char>(payload.size() >> 8 * i));
  };
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(0x80 | payload.size()));
  } else if (payload.size() < 65536) {
    frame.push_back(static_cast<char>(0x80 | 126));
    append_size(2);
  } else {
    frame.push_back(static_cast<char>(0x80 | 127));
    append_size(8);
  }
  const std::string mask = "\x12\x34\x56\x78";
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) frame.push_back(payload[i] ^ mask[i % 4]);
  return frame;
}

// A WebSocket client for any frames, also invalid ones.
template <typename Connection>
class WebSocketClientOver : public Connection {
 public:
  using Connection::Connection;
  using Connection::Read;
  using Connection::ReadTo;
  using Connection::Send;

  void SendText(const std::string& text) { Send(Masked(kFin | kText, text)); }

  // The head of the answer.
  std::string Upgrade(const std::string& path, const std::string& more_headers = "") {
    Send(UpgradeRequest(path, more_headers));
    return ReadTo("\r\n\r\n");
  }

  // With the key of the example in RFC 6455.
  static std::string UpgradeRequest(const std::string& path, const std::string& more_headers = "",
                                    const std::string& host = "test") {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", host,
                        "\r\nConnection: Upgrade, close\r\nUpgrade: WebSocket\r\n"
                        "Sec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                        more_headers, "\r\n");
  }

  Frame ReadFrame() {
    const std::string head = Read(2);
    if (head.size() < 2) return {};
    Frame frame{.first = static_cast<unsigned char>(head[0])};
    uint64_t size = static_cast<unsigned char>(head[1]);  // Servers don't mask.
    if (size >= 126) {
      const std::string bytes = Read(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : bytes) size = size << 8 | static_cast<unsigned char>(byte);
    }
    frame.payload = Read(size);
    return frame;
  }

  std::string ReadText() {
    const Frame frame = ReadFrame();
    EXPECT_EQ(frame.first, kFin | kText);
    return frame.payload;
  }

  // The next close frame, or an empty frame if the connection is closed without one.
  Frame ReadClose() {
    for (;;) {
      Frame frame = ReadFrame();
      if (frame.first == 0 || frame.first == (kFin | kClose)) return frame;
    }
  }
};

using WebSocketClient = WebSocketClientOver<RawConnection>;

}  // namespace callslip::gateway
