#ifndef CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
#define CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_

#include <string>

#include "common/address.h"

// What gRPC does not do with the sockets of a listener.
namespace callslip::tracker {

// True unless the Unix-domain socket at `path` is absent, or left behind by a process that is gone.
// gRPC takes over the path of a live listener as well. Does not block.
bool IsSocketInUse(const std::string& path);

// Ends all connections that this process has accepted on `bound`, whatever they have yet to send.
void CutConnections(const Address& bound);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
