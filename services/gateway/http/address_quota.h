#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "boost/asio/generic/stream_protocol.hpp"

namespace callslip::gateway {

// A key that identifies a peer: the 4 bytes of an IPv4 address, or the first 8 of an IPv6 address,
// because the owner of one address in a /64 has them all. Empty for other sockets.
std::string AddressKey(const boost::asio::generic::stream_protocol::endpoint& peer);
// The key of an address in text form; the text itself if it is not an address.
std::string AddressKeyOfText(absl::string_view address);
// An AddressKey() in readable form: `127.0.0.1`, `2001:db8:0:1::`. Empty for other sockets.
std::string AddressText(absl::string_view key);
// Whether the key is that of a process on this machine.
bool IsLoopbackKey(absl::string_view key);

// Counts what each address uses of something, up to a limit per address. Not thread-safe.
class AddressQuota {
 public:
  explicit AddressQuota(int limit) : limit_(limit) {}

  // Takes one for the address `key`, until the returned object is destroyed. Null if the address
  // has reached its limit.
  std::shared_ptr<void> Take(std::string key);

 private:
  using Counts = absl::flat_hash_map<std::string, int>;

  const int limit_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace callslip::gateway
