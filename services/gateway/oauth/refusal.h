#ifndef CALLSLIP_GATEWAY_OAUTH_REFUSAL_H_
#define CALLSLIP_GATEWAY_OAUTH_REFUSAL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace callslip::gateway {

// Why a token is refused: UNAUTHENTICATED. `reason` is a word for programs, `message` a sentence
// for people. It goes out in a header, so that it must be a literal and never quotes the token.
absl::Status TokenRefused(const char* reason, const char* message);

// The reason of such a status.
bool IsRefusedFor(const absl::Status& status, absl::string_view reason);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_REFUSAL_H_
