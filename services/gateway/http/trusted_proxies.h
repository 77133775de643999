#ifndef CALLSLIP_GATEWAY_HTTP_TRUSTED_PROXIES_H_
#define CALLSLIP_GATEWAY_HTTP_TRUSTED_PROXIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace callslip::gateway {

// The proxies whose word for whom they ask is taken, from X-Forwarded-For. Without any, everybody
// is who connects.
class TrustedProxies {
 public:
  TrustedProxies() = default;
  // Addresses, and networks as ADDRESS/BITS; `unix` for those that come over a Unix socket. Of
  // IPv6, a /64 is the smallest that is told apart. INVALID_ARGUMENT names what is none of these.
  static absl::StatusOr<TrustedProxies> Of(const std::vector<std::string>& proxies);

  // The AddressKey() of who asks. `peer` is that of who connects. `forwarded_for` is read from its
  // end, where the proxy that connects has written; behind a proxy that is not trusted, and behind
  // what is not an address, anybody could have written.
  std::string ClientOf(const std::string& peer, absl::string_view forwarded_for) const;
  // Nobody is.
  bool is_empty() const { return networks_.empty(); }

 private:
  struct Network {
    std::string key;  // An AddressKey().
    int bits = 0;     // Of it, those that count.
  };

  bool IsTrusted(const std::string& key) const;

  std::vector<Network> networks_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_TRUSTED_PROXIES_H_
