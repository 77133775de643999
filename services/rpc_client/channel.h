#pragma once

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

// A separate connection to the tracker, made at first use and again when it breaks: to the first of
// `addresses` that answers. Several addresses are those of trackers of which one is serving; they
// must be IPv4, see CheckTrackers(). Uses `tls`, except over a unix socket.
std::shared_ptr<grpc::Channel> ConnectChannel(const std::vector<Address>& addresses,
                                              const std::optional<TlsFiles>& tls);

// INVALID_ARGUMENT, with the remedy, if there cannot be a connection to one of them.
absl::Status CheckTrackers(const std::vector<Address>& addresses, bool has_tls);

}  // namespace callslip
