#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {

// The token in the text of a file: its only word, or the token of the first line
// `client NAME TOKEN` in a gateway's token file. INVALID_ARGUMENT if there is none that fits into a
// header; the message does not quote the text.
absl::StatusOr<std::string> FindToken(absl::string_view text);

// The same for the file at `path`. The errors name the path.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

}  // namespace callslip::bridge
