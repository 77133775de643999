#pragma once

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

// The `state` of logins through the authorization server (RFC 6749, section 4.1.1): a login must
// begin here before it can submit a code, and can submit only one. A state is a signed text, so an
// unused one takes no memory; used ones are kept until they expire.
class LoginStates {
 public:
  // From the page's button to the return to the page: time for a password, perhaps a second factor.
  static constexpr absl::Duration kLifetime = absl::Minutes(10);
  // Used states, some 100 bytes each. When full, the one that expires first is forgotten and could
  // be used again, for one more exchange, of which few are allowed (LoginQuota).
  static constexpr size_t kMaxUsed = 10'000;

  // The signature of a text, in base64url.
  using Signer = std::function<std::string(absl::string_view)>;

  // `clock` must outlive this.
  LoginStates(Signer sign, Clock* clock) : sign_(std::move(sign)), clock_(clock) {}

  // A state for a client that has the verifier of `challenge` (RFC 7636, S256) and returns to
  // `redirect`.
  std::string Give(absl::string_view challenge, absl::string_view redirect) const;

  // Marks the state as used. UNAUTHENTICATED if it was not issued here, was issued for a different
  // verifier or redirect, has expired, or was used.
  absl::Status Take(absl::string_view state, absl::string_view verifier,
                    absl::string_view redirect);

 private:
  // Binds the state to the client that began the login.
  std::string Sign(absl::string_view begun, absl::string_view challenge,
                   absl::string_view redirect) const;

  const Signer sign_;
  Clock* const clock_;
  absl::flat_hash_map<std::string, absl::Time> used_;  // By signature: when each expires.
};

}  // namespace callslip::gateway
