#ifndef CALLSLIP_COMMON_UNIX_SOCKET_H_
#define CALLSLIP_COMMON_UNIX_SOCKET_H_

#include <string>

#include "absl/status/status.h"

// The files that stand for Unix-domain sockets.
namespace callslip {

// True unless the socket at `path` is absent, or left behind by a process that is gone. Whoever
// binds takes over the path of a live one as well, or fails at that of a dead one. Does not block.
bool IsSocketInUse(const std::string& path);

// Makes room for a socket at `path`: removes one that was left behind. UNAVAILABLE where somebody
// listens there; INVALID_ARGUMENT where the path is too long, or something else lies there.
absl::Status PrepareSocketPath(const std::string& path);

// The mode for a socket at `path`: 0660 where its folder is open to a group and to no others, else
// 0600. Who may write to a socket may connect to it.
unsigned SocketMode(const std::string& path);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_UNIX_SOCKET_H_
