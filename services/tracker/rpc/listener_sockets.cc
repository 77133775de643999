#include "tracker/rpc/listener_sockets.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/numbers.h"

namespace callslip::tracker {
namespace {

// Whether the near end of `fd` is what a listener on `bound` accepts on.
bool IsBoundTo(int fd, const Address& bound) {
  union {
    sockaddr any;
    sockaddr_un unix_domain;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } name = {};
  // Room for the zero that a longest path does not have.
  socklen_t size = sizeof(name) - 1;
  if (getsockname(fd, &name.any, &size) != 0) return false;
  switch (name.any.sa_family) {
    case AF_UNIX:
      return bound.is_unix() && bound.unix_path == name.unix_domain.sun_path;
    case AF_INET:
      return !bound.is_unix() && ntohs(name.v4.sin_port) == bound.port;
    case AF_INET6:
      return !bound.is_unix() && ntohs(name.v6.sin6_port) == bound.port;
    default:
      return false;
  }
}

}  // namespace

bool IsSocketInUse(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  // gRPC will say that it cannot listen there.
  if (path.size() >= sizeof(name.sun_path)) return false;
  std::memcpy(name.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool answered = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  // Any other error, such as that of a full backlog, speaks of somebody behind the socket.
  const bool in_use = answered || (errno != ENOENT && errno != ECONNREFUSED);
  close(fd);
  return in_use;
}

UnixSocketMode::UnixSocketMode(const std::vector<Address>& addresses) {
  constexpr mode_t kOwnerOnly = 0177;
  constexpr mode_t kWithGroup = 0117;
  mode_t mask = kWithGroup;
  bool any = false;
  for (const Address& address : addresses) {
    if (!address.is_unix()) continue;
    any = true;
    const std::string folder = std::filesystem::path(address.unix_path).parent_path().string();
    struct stat info = {};
    const bool known = stat(folder.empty() ? "." : folder.c_str(), &info) == 0;
    const bool is_for_group =
        known && (info.st_mode & S_IXGRP) != 0 && (info.st_mode & S_IXOTH) == 0;
    if (!is_for_group) mask = kOwnerOnly;
  }
  if (any) before_ = umask(mask);
}

UnixSocketMode::~UnixSocketMode() {
  if (before_.has_value()) umask(*before_);
}

void CutConnections(const Address& bound) {
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir("/proc/self/fd"), closedir);
  if (descriptors == nullptr) return;
  while (const dirent* entry = readdir(descriptors.get())) {
    int fd = -1;
    if (absl::SimpleAtoi(entry->d_name, &fd) && IsBoundTo(fd, bound)) shutdown(fd, SHUT_RDWR);
  }
}

}  // namespace callslip::tracker
