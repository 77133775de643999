#ifndef CALLSLIP_TRACKER_SERVER_LISTENER_SOCKETS_H_
#define CALLSLIP_TRACKER_SERVER_LISTENER_SOCKETS_H_

#include <sys/types.h>

#include <vector>

#include "common/address.h"

// What gRPC does not do with the sockets of a listener.
namespace callslip::tracker {

// While it lives, unix sockets are made for their owner alone. It is the process's mask that says
// so: files that others make meanwhile have fewer rights, too.
class UnixSocketMask {
 public:
  UnixSocketMask();
  ~UnixSocketMask();
  UnixSocketMask(const UnixSocketMask&) = delete;
  UnixSocketMask& operator=(const UnixSocketMask&) = delete;

 private:
  const mode_t before_;
};

// Opens each unix socket of `bound` to the group where its folder does; see SocketMode().
void OpenToGroups(const std::vector<Address>& bound);

// Ends all connections that this process has accepted on `bound`, whatever they have yet to send.
void CutConnections(const Address& bound);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_LISTENER_SOCKETS_H_
