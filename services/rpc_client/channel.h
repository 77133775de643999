#ifndef CALLSLIP_RPC_CLIENT_CHANNEL_H_
#define CALLSLIP_RPC_CLIENT_CHANNEL_H_

#include <memory>
#include <optional>

#include "common/address.h"
#include "common/tls_files.h"

namespace grpc {
class Channel;
}

namespace callslip {

// A connection to the tracker of its own, made when it is first used and again when it breaks.
// With `tls`, but for a unix socket.
std::shared_ptr<grpc::Channel> ConnectChannel(const Address& address,
                                              const std::optional<TlsFiles>& tls);

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_CHANNEL_H_
