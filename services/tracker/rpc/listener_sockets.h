#ifndef CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
#define CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/address.h"

// What gRPC does not do with the sockets of a listener.
namespace callslip::tracker {

// True unless the Unix-domain socket at `path` is absent, or left behind by a process that is gone.
// gRPC takes over the path of a live listener as well. Does not block.
bool IsSocketInUse(const std::string& path);

// While it lives, unix sockets of `addresses` are made for their owner alone, and for the group as
// well where all of their folders let the group in. It is the process's mask that says so: files
// that others make meanwhile have fewer rights, too.
class UnixSocketMode {
 public:
  explicit UnixSocketMode(const std::vector<Address>& addresses);
  ~UnixSocketMode();
  UnixSocketMode(const UnixSocketMode&) = delete;
  UnixSocketMode& operator=(const UnixSocketMode&) = delete;

 private:
  std::optional<mode_t> before_;
};

// Ends all connections that this process has accepted on `bound`, whatever they have yet to send.
void CutConnections(const Address& bound);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
