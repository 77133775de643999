#ifndef CALLSLIP_GATEWAY_WEB_LOGIN_STATES_H_
#define CALLSLIP_GATEWAY_WEB_LOGIN_STATES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace callslip::gateway {

// The `state` of logins by way of the authorization server (RFC 6749, section 4.1.1): who brings a
// code has to have begun here, and may bring one. A state is a signed text, so that one that was
// given out takes no memory; those that were used are kept until they end.
class LoginStates {
 public:
  // Between the button of the page and the return to it: a password, perhaps a second factor.
  static constexpr absl::Duration kLifetime = absl::Minutes(10);
  // Each is of a code that was exchanged, some 100 bytes. Of more, the one that ends first is
  // forgotten, and could be used again: for one exchange more, of which there are few (LoginQuota).
  static constexpr size_t kMaxUsed = 10'000;

  // The signature of a text, in base64url.
  using Signer = std::function<std::string(absl::string_view)>;

  // `clock` must outlive it.
  LoginStates(Signer sign, Clock* clock) : sign_(std::move(sign)), clock_(clock) {}

  // For who has the verifier of `challenge` (RFC 7636, S256) and comes back to `redirect`.
  std::string Give(absl::string_view challenge, absl::string_view redirect) const;

  // Uses it up. UNAUTHENTICATED where it is not of here, was given to another verifier or
  // redirect, has ended, or was used.
  absl::Status Take(absl::string_view state, absl::string_view verifier,
                    absl::string_view redirect);

 private:
  // What of a state says by whom it was begun.
  std::string Sign(absl::string_view begun, absl::string_view challenge,
                   absl::string_view redirect) const;

  const Signer sign_;
  Clock* const clock_;
  absl::flat_hash_map<std::string, absl::Time> used_;  // By signature: when each ends.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_LOGIN_STATES_H_
