#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "auth/credentials.h"

namespace callslip::gateway {

// Identifies the caller by a token of another issuer. Use on the loop.
class TokenVerifier {
 public:
  virtual ~TokenVerifier() = default;

  // The credential, or UNAUTHENTICATED, PERMISSION_DENIED (the token is valid but gives no role
  // here), or UNAVAILABLE, each with a reason and a message that can be sent in a header.
  using Done = absl::AnyInvocable<void(absl::StatusOr<CredentialPtr>) &&>;

  // Calls `done` once: usually before it returns, or a few seconds later, on the loop. `address` is
  // that of the caller (HttpRequest::address).
  virtual void Verify(const std::string& token, const std::string& address, Done done) = 0;
};

}  // namespace callslip::gateway
