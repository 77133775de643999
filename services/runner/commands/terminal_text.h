#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace callslip::runner {

// Texts of agents for a terminal: the characters that would control it (C0, DEL, C1) are written
// visibly, as \x1b, so that no text can change or hide what the screen shows.

// Keeps line ends and tabs. `text` is valid UTF-8.
std::string TerminalText(absl::string_view text);
// Keeps neither, nor characters that change the direction of text or separate lines (\u202e): for
// titles and names.
std::string TerminalLine(absl::string_view text);

}  // namespace callslip::runner
