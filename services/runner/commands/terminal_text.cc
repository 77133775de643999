#include "runner/commands/terminal_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace callslip::runner {
namespace {

// The character at the start of `text`, and its bytes. Only those of up to three bytes are needed;
// of others, the first byte.
struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
};

Character FirstOf(absl::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto more = [&](size_t at) -> uint32_t { return byte(at) & 0x3fu; };
  if (byte(0) >> 5 == 0b110 && text.size() >= 2) return {(byte(0) & 0x1fu) << 6 | more(1), 2};
  if (byte(0) >> 4 == 0b1110 && text.size() >= 3) {
    return {(byte(0) & 0x0fu) << 12 | more(1) << 6 | more(2), 3};
  }
  return {byte(0), 1};
}

bool Controls(const Character& character) {
  const uint32_t code = character.code;
  return code < 0x20 || code == 0x7f || (character.bytes == 2 && code >= 0x80 && code < 0xa0);
}

// Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the separators of
// lines and paragraphs.
bool Redirects(const Character& character) {
  const uint32_t code = character.code;
  return character.bytes > 1 &&
         (code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
          (code >= 0x2066 && code <= 0x2069));
}

std::string Visible(absl::string_view text, bool is_line) {
  std::string visible;
  visible.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = FirstOf(text.substr(at));
    const bool is_layout = !is_line && (character.code == '\n' || character.code == '\t');
    if (Controls(character) && !is_layout) {
      absl::StrAppendFormat(&visible, "\\x%02x", character.code);
    } else if (is_line && Redirects(character)) {
      absl::StrAppendFormat(&visible, "\\u%04x", character.code);
    } else {
      absl::StrAppend(&visible, text.substr(at, character.bytes));
    }
    at += character.bytes;
  }
  return visible;
}

}  // namespace

std::string TerminalText(absl::string_view text) { return Visible(text, /*is_line=*/false); }

std::string TerminalLine(absl::string_view text) { return Visible(text, /*is_line=*/true); }

}  // namespace callslip::runner
