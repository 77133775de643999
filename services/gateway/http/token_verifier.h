#ifndef CALLSLIP_GATEWAY_HTTP_TOKEN_VERIFIER_H_
#define CALLSLIP_GATEWAY_HTTP_TOKEN_VERIFIER_H_

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "auth/credentials.h"

namespace callslip::gateway {

// Tells who presents a token that somebody else has issued. Used on the loop.
class TokenVerifier {
 public:
  virtual ~TokenVerifier() = default;

  // The credential, or UNAUTHENTICATED, PERMISSION_DENIED (the token is good, and gives no role
  // here) or UNAVAILABLE, each with a reason and a message that may go out in a header.
  using Done = absl::AnyInvocable<void(absl::StatusOr<CredentialPtr>) &&>;

  // Calls `done` once: mostly before it returns, or a few seconds later, on the loop. `address` is
  // that of who presents it (HttpRequest::address).
  virtual void Verify(const std::string& token, const std::string& address, Done done) = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_TOKEN_VERIFIER_H_
