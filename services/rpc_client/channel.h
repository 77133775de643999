#ifndef CALLSLIP_RPC_CLIENT_CHANNEL_H_
#define CALLSLIP_RPC_CLIENT_CHANNEL_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/address.h"
#include "common/tls_files.h"

namespace grpc {
class Channel;
}

namespace callslip {

// A connection to the tracker of its own, made when it is first used and again when it breaks: at
// the first of `addresses` where one answers. Several are of trackers of which one serves; they are
// IPv4, see CheckTrackers(). With `tls`, but for a unix socket.
std::shared_ptr<grpc::Channel> ConnectChannel(const std::vector<Address>& addresses,
                                              const std::optional<TlsFiles>& tls);

// INVALID_ARGUMENT, with what to do, where there can't be a connection to one of them.
absl::Status CheckTrackers(const std::vector<Address>& addresses, bool has_tls);

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_CHANNEL_H_
