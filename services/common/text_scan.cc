#include "common/text_scan.h"

namespace callslip {

const char* SkipUtf8(const char* at, const char* end) {
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(*at);
  if (first < 0xC2 || first > 0xF4) return nullptr;
  const int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (end - at < length) return nullptr;
  uint32_t code = first & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    if ((byte & 0xC0) != 0x80) return nullptr;
    code = (code << 6) | (byte & 0x3F);
  }
  const bool is_surrogate = 0xD800 <= code && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return nullptr;
  return at + length;
}

bool IsUtf8(absl::string_view text) {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  while (at != nullptr && at != end) {
    at = static_cast<unsigned char>(*at) < 0x80 ? at + 1 : SkipUtf8(at, end);
  }
  return at == end;
}

absl::string_view CutText(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace callslip
