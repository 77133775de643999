#include "tracker/domain/session/session_metadata.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {

absl::string_view SessionStateName(SessionState state) {
  return state == SessionState::kActive ? "active" : "completed";
}

absl::Status CheckSessionId(absl::string_view id) {
  const auto fits = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  if (!id.empty() && id.size() <= kMaxSessionIdBytes && std::all_of(id.begin(), id.end(), fits)) {
    return absl::OkStatus();
  }
  return InvalidSessionId();
}

std::string NewSessionId(absl::Time now) {
  return absl::StrCat(absl::FormatTime("%Y%m%d-%H%M%S-", now, absl::UTCTimeZone()),
                      absl::StrFormat("%016x", Random64()));
}

}  // namespace callslip::tracker
