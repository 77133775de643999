#ifndef CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_
#define CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "boost/asio/generic/stream_protocol.hpp"

namespace callslip::gateway {

// How many connections each remote address has, and whether it may have one more. A /64 of IPv6
// counts as one address, since whoever has one of it has them all. Not thread-safe.
class AddressQuota {
 public:
  explicit AddressQuota(int limit) : limit_(limit) {}

  // A place for a connection from `peer`, which it has until the place is destroyed. Null where
  // that address has all that it may have.
  std::shared_ptr<void> Take(const boost::asio::generic::stream_protocol::endpoint& peer);

 private:
  using Counts = absl::flat_hash_map<std::string, int>;

  const int limit_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_
