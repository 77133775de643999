#include "common/text_scan.h"

#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

// A backslash, `u` and four hexadecimal digits.
constexpr size_t kUnitBytes = 6;

// The UTF-16 code unit that is escaped at `at`; nullopt if there is no such escape.
std::optional<uint32_t> UnitAt(absl::string_view json, size_t at) {
  if (at + kUnitBytes > json.size() || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  for (const char c : json.substr(at + 2, 4)) {
    if (!absl::ascii_isxdigit(c)) return std::nullopt;
    unit = unit * 16 + (absl::ascii_isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return unit;
}

bool IsFirstHalf(uint32_t unit) { return 0xD800 <= unit && unit < 0xDC00; }
bool IsSecondHalf(uint32_t unit) { return 0xDC00 <= unit && unit < 0xE000; }

}  // namespace

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

std::string WithoutBadUtf8(absl::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  const char* const end = bytes.data() + bytes.size();
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  const auto is_inner = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  for (const char* at = bytes.data(); at != end;) {
    const char* const next = is_ascii(*at) ? at + 1 : SkipUtf8(at, end);
    if (next != nullptr) {
      text.append(at, next);
      at = next;
      continue;
    }
    // The continuation bytes of an incomplete character belong to it.
    for (++at; at != end && is_inner(*at);) ++at;
    text.append("\xEF\xBF\xBD");
  }
  return text;
}

absl::string_view CutText(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

size_t UnicodeEscapeBytes(absl::string_view json) {
  const std::optional<uint32_t> unit = UnitAt(json, 0);
  if (!unit.has_value() || IsSecondHalf(*unit)) return 0;
  if (!IsFirstHalf(*unit)) return kUnitBytes;
  return IsSecondHalf(UnitAt(json, kUnitBytes).value_or(0)) ? 2 * kUnitBytes : 0;
}

absl::string_view MendJson(absl::string_view json, std::string& mended) {
  absl::ConsumePrefix(&json, "\xEF\xBB\xBF");
  // Most texts have no such escape and are searched at the speed of memory.
  if (!absl::StrContains(json, "\\ud") && !absl::StrContains(json, "\\uD")) return json;
  bool is_whole = true;
  for (size_t at = json.find('\\'); at < json.size(); at = json.find('\\', at)) {
    if (!UnitAt(json, at).has_value()) {
      at += 2;  // Another escape, such as a backslash.
    } else if (const size_t bytes = UnicodeEscapeBytes(json.substr(at)); bytes > 0) {
      at += bytes;
    } else {
      if (std::exchange(is_whole, false)) mended = std::string(json);
      mended.replace(at, kUnitBytes, "\\ufffd");
      at += kUnitBytes;
    }
  }
  return is_whole ? json : mended;
}

void EscapeLineSeparators(std::string& json) {
  if (!absl::StrContains(json, "\xE2\x80")) return;
  absl::StrReplaceAll({{"\xE2\x80\xA8", "\\u2028"}, {"\xE2\x80\xA9", "\\u2029"}}, &json);
}

bool IsLowerHex(absl::string_view text) {
  return absl::c_all_of(text,
                        [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

bool IsErrorCode(absl::string_view text) {
  return !text.empty() && text.size() <= 64 && absl::ascii_islower(text[0]) &&
         absl::c_all_of(text, [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
         });
}

std::optional<int64_t> IntegerIn(double number) {
  constexpr double kMaxValue = (int64_t{1} << 53) - 1;
  if (!(std::abs(number) <= kMaxValue) || std::trunc(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace callslip
