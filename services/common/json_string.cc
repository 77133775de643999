#include "common/json_string.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/text_scan.h"
#include "nlohmann/json.hpp"

namespace callslip {
namespace {

constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kFirstLowSurrogate = 0xDC00;
constexpr uint32_t kLastSurrogate = 0xDFFF;

// `at` is after a backslash. Parses `u` and four hexadecimal digits into `unit`.
const char* SkipUnit(const char* at, const char* end, uint32_t& unit) {
  if (end - at < 5 || *at != 'u') return nullptr;
  unit = 0;
  for (int i = 1; i <= 4; ++i) {
    if (!absl::ascii_isxdigit(at[i])) return nullptr;
    unit = unit * 16 + (absl::ascii_isdigit(at[i]) ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
  }
  return at + 5;
}

// `at` is after a backslash.
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
    case 't': return at + 1;
  }
  uint32_t unit = 0;
  at = SkipUnit(at, end, unit);
  if (at == nullptr || unit < kFirstSurrogate || unit > kLastSurrogate) return at;
  // Surrogates come in pairs.
  if (unit >= kFirstLowSurrogate || at == end || *at != '\\') return nullptr;
  at = SkipUnit(at + 1, end, unit);
  return kFirstLowSurrogate <= unit && unit <= kLastSurrogate ? at : nullptr;
}

}  // namespace

const char* SkipJsonString(const char* at, const char* end) {
  while (at != nullptr) {
    at = SkipPlainJson(at, end);
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

}  // namespace callslip
