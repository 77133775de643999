#pragma once

#include <string>

#include "absl/status/status.h"

// Helpers for the files of Unix-domain sockets.
namespace callslip {

// Whether a process uses the socket at `path`. False if it is absent, left behind by a dead
// process, or the path is too long. Binding cannot tell: it either replaces a live socket too, or
// fails on a dead one. Does not block.
bool IsSocketInUse(const std::string& path);

// Prepares `path` for a new socket: removes one that was left behind. UNAVAILABLE if a process
// listens there; INVALID_ARGUMENT if the path is too long or is not a socket.
absl::Status PrepareSocketPath(const std::string& path);

// The mode for a socket at `path`: 0660 if its folder is accessible to a group and to no others,
// else 0600. Write permission on a socket is permission to connect to it.
unsigned SocketMode(const std::string& path);

}  // namespace callslip
