#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace callslip {

// Where a server listens or a client connects: `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`.
struct Address {
  std::string host;       // Without brackets; empty for a Unix-domain socket.
  uint16_t port = 0;      // 0 lets a listener pick a free one.
  std::string unix_path;  // Empty for TCP.

  bool is_unix() const { return !unix_path.empty(); }

  // True if only processes on this machine can connect: a Unix-domain socket, 127.0.0.0/8, ::1 or
  // the name localhost.
  bool IsLoopback() const;

  // The canonical form of the parsed text.
  std::string ToString() const;
};

// INVALID_ARGUMENT, naming the three accepted forms, if `text` is anything else.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

}  // namespace callslip
