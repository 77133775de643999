#ifndef CALLSLIP_COMMON_TEXT_SCAN_H_
#define CALLSLIP_COMMON_TEXT_SCAN_H_

#include <endian.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// Looks through text at the speed at which it comes: what is read of each byte of a message stands
// in the header, so that it becomes part of its callers.
namespace callslip {

// The first character from `at` on that does not stand for itself in a JSON string, because it is a
// quote, a backslash, a control character or no ASCII; `end` where there is none. Eight at a time.
inline const char* SkipPlainJson(const char* at, const char* end) {
  constexpr uint64_t kEach = 0x0101010101010101;
  while (end - at >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, at, sizeof(bytes));
    bytes = le64toh(bytes);
    // In the first byte that is not plain the highest bit gets set, and in none before it: by the
    // subtraction where it is a control character, a quote or a backslash.
    const uint64_t special = (bytes | (bytes - kEach * ' ') | ((bytes ^ (kEach * '"')) - kEach) |
                              ((bytes ^ (kEach * '\\')) - kEach)) &
                             (kEach * 0x80);
    if (special != 0) return at + std::countr_zero(special) / 8;
    at += 8;
  }
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && c >= ' ' && c != '"' && c != '\\';
  };
  while (at < end && is_plain(*at)) ++at;
  return at;
}

// Behind the character that begins at `at`, before `end`, and is no ASCII. Null where that is no
// UTF-8 (RFC 3629): cut off, longer than needed, a surrogate, beyond U+10FFFF.
const char* SkipUtf8(const char* at, const char* end);

bool IsUtf8(absl::string_view text);

// What of `bytes` is no UTF-8, or was cut through, becomes U+FFFD.
std::string WithoutBadUtf8(absl::string_view bytes);

// As much of the beginning of `text` as fits in `bytes`, without a part of a character.
absl::string_view CutText(absl::string_view text, size_t bytes);

// JSON as all parsers take it here: without the byte order mark that some write before it (RFC
// 8259, section 8.1), and with U+FFFD for each half character, which is an escaped surrogate
// without its other half (\ud83d): the grammar of JSON allows it, and no UTF-8 can hold it.
// JavaScript writes it for a text that was cut within an emoji. `mended` holds what is returned
// where that is not a part of `json`; it has the same length then.
absl::string_view MendJson(absl::string_view json, std::string& mended);

// U+2028 and U+2029 in JSON become escapes: some take them for the ends of lines.
void EscapeLineSeparators(std::string& json);

// The integer that a number of JSON is, also where it is written as 7.0 or 5e3: for JSON Schema
// those are integers. Nullopt for others, and from 2^53 on, where not every integer can be
// written so.
std::optional<int64_t> IntegerIn(double number);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_TEXT_SCAN_H_
