#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace callslip::gateway {

// The proxies whose X-Forwarded-For is trusted. Without any, the client is always the connecting
// peer.
class TrustedProxies {
 public:
  TrustedProxies() = default;
  // `proxies` has addresses, networks as ADDRESS/BITS, and `unix` for connections over a Unix
  // socket. For IPv6, a /64 is the smallest network that is distinguished. INVALID_ARGUMENT names
  // an entry that is none of these.
  static absl::StatusOr<TrustedProxies> Of(const std::vector<std::string>& proxies);

  // The AddressKey() of the client. `peer` is that of the connecting peer. `forwarded_for` is read
  // from its end, where the connecting proxy has written. Entries before an untrusted proxy, or
  // before an invalid address, are ignored, because any client could have written them.
  std::string ClientOf(const std::string& peer, absl::string_view forwarded_for) const;
  bool is_empty() const { return networks_.empty(); }

 private:
  struct Network {
    std::string key;  // An AddressKey().
    int bits = 0;     // Number of significant bits in it.
  };

  bool IsTrusted(const std::string& key) const;

  std::vector<Network> networks_;
};

}  // namespace callslip::gateway
