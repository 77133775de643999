#pragma once

#include "absl/strings/string_view.h"

namespace callslip {

// The target of a session's shell commands is this and the session's id.
inline constexpr absl::string_view kSessionTargets = "session-";

}  // namespace callslip
