#pragma once

#include <endian.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// Text scanning at memory speed: the per-byte code is in this header so that it is inlined.
namespace callslip {

// The first character from `at` on that needs handling in a JSON string: a quote, a backslash, a
// control character or non-ASCII; `end` if there is none. Checks eight bytes at a time.
inline const char* SkipPlainJson(const char* at, const char* end) {
  constexpr uint64_t kEach = 0x0101010101010101;
  while (end - at >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, at, sizeof(bytes));
    bytes = le64toh(bytes);
    // Sets the highest bit of the first byte that is not plain, and of no byte before it. For
    // control characters, quotes and backslashes the subtraction does that.
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

// The position after the non-ASCII character at `at`, before `end`. Null if it is not valid UTF-8
// (RFC 3629): truncated, overlong, a surrogate, beyond U+10FFFF.
const char* SkipUtf8(const char* at, const char* end);

bool IsUtf8(absl::string_view text);

// Replaces invalid or truncated UTF-8 in `bytes` with U+FFFD.
std::string WithoutBadUtf8(absl::string_view bytes);

// The longest beginning of `text` that fits in `bytes` and ends with a whole character.
absl::string_view CutText(absl::string_view text, size_t bytes);

// Bytes of the escape with which `json` begins, such as \u20ac, or of the two that are one
// character. 0 if there is none, or an unpaired surrogate.
size_t UnicodeEscapeBytes(absl::string_view json);

// Prepares JSON for all parsers here: removes a leading byte order mark (RFC 8259, section 8.1),
// and replaces each unpaired escaped surrogate (such as \ud83d) with U+FFFD. JSON's grammar allows
// unpaired surrogates, but UTF-8 cannot hold them. JavaScript writes them for a text that was cut
// within an emoji. `mended` holds the result if that is not a part of `json`; its length is the
// same.
absl::string_view MendJson(absl::string_view json, std::string& mended);

// Escapes U+2028 and U+2029 in JSON: some readers take them for line ends.
void EscapeLineSeparators(std::string& json);

// Whether it has only digits and letters from a to f.
bool IsLowerHex(absl::string_view text);

// Whether it is one lower_snake_case word of at most 64 characters, as the codes of errors are.
bool IsErrorCode(absl::string_view text);

// The integer value of a JSON number, including one written as 7.0 or 5e3: JSON Schema counts those
// as integers. Nullopt for other numbers, and from 2^53 on, where doubles do not represent every
// integer.
std::optional<int64_t> IntegerIn(double number);

}  // namespace callslip
