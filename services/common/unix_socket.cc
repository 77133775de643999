#include "common/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace callslip {

bool IsSocketInUse(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  // Binding will report that this path cannot be used.
  if (path.size() >= sizeof(name.sun_path)) return false;
  std::memcpy(name.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool answered = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  // Any other error, such as a full backlog, means that a process is behind the socket.
  const bool in_use = answered || (errno != ENOENT && errno != ECONNREFUSED);
  close(fd);
  return in_use;
}

absl::Status PrepareSocketPath(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the path ", path, " is too long for a socket: ", sizeof(sockaddr_un::sun_path) - 1,
        " bytes at most"));
  }
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a socket: name another path, or remove what is there"));
  }
  if (IsSocketInUse(path)) {
    return absl::UnavailableError(absl::StrCat("another program listens at unix:", path,
                                               " already: end it, or name another path"));
  }
  unlink(path.c_str());
  return absl::OkStatus();
}

unsigned SocketMode(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat found = {};
  if (stat(folder.c_str(), &found) != 0) return 0600;
  return (found.st_mode & S_IXGRP) != 0 && (found.st_mode & S_IRWXO) == 0 ? 0660 : 0600;
}

}  // namespace callslip
