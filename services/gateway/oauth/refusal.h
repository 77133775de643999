#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace callslip::gateway {

// The refusal of a token: UNAUTHENTICATED. `reason` is a word for programs, `message` a sentence
// for people. The message is sent in a header, so it must be a literal and must never quote the
// token.
absl::Status TokenRefused(const char* reason, const char* message);

// Whether `status` is a refusal with that reason.
bool IsRefusedFor(const absl::Status& status, absl::string_view reason);

}  // namespace callslip::gateway
