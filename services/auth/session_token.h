#pragma once

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace callslip {

// The prefix of the token that a runner gives to its session's agent; 64 hexadecimal digits follow.
inline constexpr absl::string_view kSessionTokenPrefix = "callslip-session-";

// Whether `token` has the prefix of a session token.
inline bool IsSessionToken(absl::string_view token) {
  return absl::StartsWith(token, kSessionTokenPrefix);
}

// Whether `token` has the full form of a session token.
inline bool IsWellFormedSessionToken(absl::string_view token) {
  return IsSessionToken(token) && token.size() == kSessionTokenPrefix.size() + 64 &&
         absl::c_all_of(token.substr(kSessionTokenPrefix.size()),
                        [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

}  // namespace callslip
