#include "common/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace callslip {

void NotifyServiceManager(absl::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return;
  const absl::string_view path = name;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() > sizeof(address.sun_path)) return;
  std::copy(path.begin(), path.end(), address.sun_path);
  // The abstract namespace.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  sendto(socket_fd, state.data(), state.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address), size);
  close(socket_fd);
}

}  // namespace callslip
