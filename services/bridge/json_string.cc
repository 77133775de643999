#include "bridge/json_string.h"

#include <endian.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kFirstLowSurrogate = 0xDC00;
constexpr uint32_t kLastSurrogate = 0xDFFF;

// ASCII that stands for itself.
bool IsPlain(char c) { return absl::ascii_isascii(c) && c >= ' ' && c != '"' && c != '\\'; }

// Skips plain characters, eight at a time.
const char* SkipPlain(const char* at, const char* end) {
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
  while (at < end && IsPlain(*at)) ++at;
  return at;
}

// `at` is the first byte of a sequence beyond ASCII.
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
  const bool is_surrogate = kFirstSurrogate <= code && code <= kLastSurrogate;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return nullptr;
  return at + length;
}

// `at` is behind a backslash. Takes `u` and four hexadecimal digits; `unit` is their value.
const char* SkipUnit(const char* at, const char* end, uint32_t& unit) {
  if (end - at < 5 || *at != 'u') return nullptr;
  unit = 0;
  for (int i = 1; i <= 4; ++i) {
    if (!absl::ascii_isxdigit(at[i])) return nullptr;
    unit = unit * 16 + (absl::ascii_isdigit(at[i]) ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
  }
  return at + 5;
}

// `at` is behind a backslash.
const char* SkipEscape(const char* at, const char* end) {
  if (at == end) return nullptr;
  switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return at + 1;
  }
  uint32_t unit = 0;
  at = SkipUnit(at, end, unit);
  if (at == nullptr || unit < kFirstSurrogate || unit > kLastSurrogate) return at;
  // The surrogates come in pairs.
  if (unit >= kFirstLowSurrogate || at == end || *at != '\\') return nullptr;
  at = SkipUnit(at + 1, end, unit);
  return kFirstLowSurrogate <= unit && unit <= kLastSurrogate ? at : nullptr;
}

}  // namespace

const char* SkipJsonString(const char* at, const char* end) {
  while (at != nullptr) {
    at = SkipPlain(at, end);
    if (at == end) return nullptr;
    if (*at == '"') return at + 1;
    if (*at == '\\') {
      at = SkipEscape(at + 1, end);
    } else {
      at = absl::ascii_isascii(*at) ? nullptr : SkipUtf8(at, end);
    }
  }
  return nullptr;
}

bool IsJsonString(absl::string_view value) { return !value.empty() && value.front() == '"'; }

std::optional<std::string> DecodeJsonString(absl::string_view value) {
  if (!IsJsonString(value) || value.size() < 2) return std::nullopt;
  if (!absl::StrContains(value, '\\')) return std::string(value.substr(1, value.size() - 2));
  const auto decoded = nlohmann::json::parse(value.begin(), value.end(), /*cb=*/nullptr,
                                             /*allow_exceptions=*/false);
  if (!decoded.is_string()) return std::nullopt;
  return decoded.get<std::string>();
}

}  // namespace callslip::bridge
