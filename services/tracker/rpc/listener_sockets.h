#ifndef CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
#define CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_

#include "common/address.h"

// What gRPC does not do with the sockets of a listener.
namespace callslip::tracker {

// Ends all connections that this process has accepted on `bound`, whatever they have yet to send.
void CutConnections(const Address& bound);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_LISTENER_SOCKETS_H_
