#pragma once

#include <sys/types.h>

#include <vector>

#include "common/address.h"

// Operations on a listener's sockets that gRPC lacks.
namespace callslip::tracker {

// While it lives, new unix sockets are accessible only to their owner. It sets the process's umask,
// so files that other threads create meanwhile also have fewer permissions.
class UnixSocketMask {
 public:
  UnixSocketMask();
  ~UnixSocketMask();
  UnixSocketMask(const UnixSocketMask&) = delete;
  UnixSocketMask& operator=(const UnixSocketMask&) = delete;

 private:
  const mode_t before_;
};

// Opens each unix socket of `bound` to the group if its folder is; see SocketMode().
void OpenToGroups(const std::vector<Address>& bound);

// Cuts all connections that this process has accepted on `bound`, even with unsent data.
void CutConnections(const Address& bound);

}  // namespace callslip::tracker
