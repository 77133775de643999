#include "gateway/web/login_states.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "auth/same_secret.h"
#include "auth/sha256.h"
#include "common/random.h"

namespace callslip::gateway {
namespace {

absl::Status Refused(absl::string_view why) {
  return absl::UnauthenticatedError(absl::StrCat("This login ", why, "."));
}

}  // namespace

std::string LoginStates::Give(absl::string_view challenge, absl::string_view redirect) const {
  const absl::Time end = ToWallTime(clock_->Now()) + kLifetime;
  const std::string begun = absl::StrCat(absl::ToUnixSeconds(end), ".", RandomHex128());
  return absl::StrCat(begun, ".", Sign(begun, challenge, redirect));
}

std::string LoginStates::Sign(absl::string_view begun, absl::string_view challenge,
                              absl::string_view redirect) const {
  return sign_(absl::StrCat(begun, " ", challenge, " ", redirect));
}

absl::Status LoginStates::Take(absl::string_view state, absl::string_view verifier,
                               absl::string_view redirect) {
  const size_t dot = state.rfind('.');
  const absl::string_view begun = state.substr(0, dot);
  const absl::string_view signature = dot == absl::string_view::npos ? "" : state.substr(dot + 1);
  if (!IsSameSecret(signature, Sign(begun, Sha256Base64Url(verifier), redirect))) {
    return Refused("was begun elsewhere, or before this gateway's keys were changed");
  }
  // From here on the state is known to be issued by the gateway.
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(begun.substr(0, begun.find('.')), &seconds)) return Refused("is none");
  const absl::Time now = ToWallTime(clock_->Now());
  const absl::Time end = absl::FromUnixSeconds(seconds);
  if (now >= end) {
    return Refused(absl::StrCat("took longer than ", absl::FormatDuration(kLifetime)));
  }
  if (used_.contains(signature)) return Refused("is over: each counts once");
  if (used_.size() >= kMaxUsed) {
    used_.erase(absl::c_min_element(
        used_, [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  used_.emplace(signature, end);
  return absl::OkStatus();
}

}  // namespace callslip::gateway
