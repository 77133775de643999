#ifndef CALLSLIP_GATEWAY_TRACKER_CLIENT_CHANNEL_H_
#define CALLSLIP_GATEWAY_TRACKER_CLIENT_CHANNEL_H_

#include <memory>

#include "common/address.h"

namespace grpc {
class Channel;
}

namespace callslip::gateway {

// A connection to the tracker of its own, made when it is first used and again when it breaks.
std::shared_ptr<grpc::Channel> ConnectChannel(const Address& address);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_CLIENT_CHANNEL_H_
