#include "tracker/server/listener_sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <memory>

#include "absl/strings/numbers.h"
#include "common/unix_socket.h"

namespace callslip::tracker {
namespace {

// Whether the local address of `fd` is that of the listener on `bound`.
bool IsBoundTo(int fd, const Address& bound) {
  union {
    sockaddr any;
    sockaddr_un unix_domain;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } name = {};
  // One byte less, for the terminating zero that a path of maximum length lacks.
  socklen_t size = sizeof(name) - 1;
  if (getsockname(fd, &name.any, &size) != 0) return false;
  switch (name.any.sa_family) {
    case AF_UNIX: return bound.is_unix() && bound.unix_path == name.unix_domain.sun_path;
    case AF_INET: return !bound.is_unix() && ntohs(name.v4.sin_port) == bound.port;
    case AF_INET6: return !bound.is_unix() && ntohs(name.v6.sin6_port) == bound.port;
    default: return false;
  }
}

}  // namespace

UnixSocketMask::UnixSocketMask() : before_(umask(0177)) {}

UnixSocketMask::~UnixSocketMask() { umask(before_); }

void OpenToGroups(const std::vector<Address>& bound) {
  for (const Address& address : bound) {
    if (!address.is_unix()) continue;
    // A process with access to the folder may have replaced the socket with a link.
    fchmodat(AT_FDCWD, address.unix_path.c_str(), SocketMode(address.unix_path),
             AT_SYMLINK_NOFOLLOW);
  }
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
