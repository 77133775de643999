#ifndef CALLSLIP_GATEWAY_OAUTH_GRANTS_H_
#define CALLSLIP_GATEWAY_OAUTH_GRANTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "gateway/http/token_verifier.h"

namespace callslip::gateway {

// What an access token has said: enough to tell later, without the token, whether it still counts.
struct Grant {
  std::string caller;  // As in AccessToken.
  std::vector<std::string> scopes;
  std::string key;  // PublicKey::Thumbprint() of the one that has signed it.
  absl::Time expires;
};

// A verifier that can be asked again about what it has let in.
class Grants : public TokenVerifier {
 public:
  // That of a token which was let in. Errors as those of Verify().
  virtual absl::StatusOr<Grant> GrantOf(const std::string& token) = 0;

  // Who has it now: by the keys that the authorization server has, and by the roles that scopes
  // give here. The credential is revoked with the key. UNAUTHENTICATED, PERMISSION_DENIED and
  // UNAVAILABLE as in Verify().
  virtual absl::StatusOr<CredentialPtr> Find(const Grant& grant) = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_GRANTS_H_
