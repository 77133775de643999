#ifndef CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_
#define CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "boost/asio/generic/stream_protocol.hpp"

namespace callslip::gateway {

// What tells one peer from another: the 4 bytes of an address of IPv4, the first 8 of one of IPv6,
// since whoever has one address of a /64 has them all. Empty for other sockets.
std::string AddressKey(const boost::asio::generic::stream_protocol::endpoint& peer);
// The same for an address in text; the text itself where it is none.
std::string AddressKeyOfText(absl::string_view address);
// An AddressKey() for people: `127.0.0.1`, `2001:db8:0:1::`. Empty for other sockets.
std::string AddressText(absl::string_view key);
// Whether it is that of a process of this machine.
bool IsLoopbackKey(absl::string_view key);

// How much each address has of something, and whether it may have one more. Not thread-safe.
class AddressQuota {
 public:
  explicit AddressQuota(int limit) : limit_(limit) {}

  // One more for who has `key`, until what is returned is destroyed. Null where that has all that
  // it may have.
  std::shared_ptr<void> Take(std::string key);

 private:
  using Counts = absl::flat_hash_map<std::string, int>;

  const int limit_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ADDRESS_QUOTA_H_
