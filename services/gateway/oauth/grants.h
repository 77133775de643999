#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "gateway/http/token_verifier.h"

namespace callslip::gateway {

// The content of an access token: enough to decide later, without the token, whether it is still
// valid.
struct Grant {
  std::string caller;  // As in AccessToken.
  std::vector<std::string> scopes;
  std::string key;  // PublicKey::Thumbprint() of the key that signed the token.
  absl::Time expires;
};

// A verifier that can check again what it has accepted.
class Grants : public TokenVerifier {
 public:
  // The grant in an accepted token. Errors as for Verify().
  virtual absl::StatusOr<Grant> GrantOf(const std::string& token) = 0;

  // The current credential for `grant`, by the authorization server's current keys and the roles
  // that its scopes give here. The credential is revoked together with the key. UNAUTHENTICATED,
  // PERMISSION_DENIED and UNAVAILABLE as for Verify().
  virtual absl::StatusOr<CredentialPtr> Find(const Grant& grant) = 0;
};

}  // namespace callslip::gateway
