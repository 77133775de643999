#include "common/json_string.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/text_scan.h"
#include "nlohmann/json.hpp"

namespace callslip {
namespace {

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
  const char* const escape = at - 1;
  const size_t bytes =
      UnicodeEscapeBytes(absl::string_view(escape, static_cast<size_t>(end - escape)));
  return bytes > 0 ? escape + bytes : nullptr;
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
