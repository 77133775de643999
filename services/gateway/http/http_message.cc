#include "gateway/http/http_message.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text_scan.h"

namespace callslip::gateway {
namespace {

std::optional<int> HexDigit(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  const char lower = absl::ascii_tolower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return std::nullopt;
}

template <typename Map, typename Key>
const std::string& FindOrEmpty(const Map& map, const Key& key) {
  static const auto& empty = *new std::string();
  const auto it = map.find(key);
  return it == map.end() ? empty : it->second;
}

}  // namespace

std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = HexDigit(text[i + 1]);
      const auto low = HexDigit(text[i + 2]);
      if (!high.has_value() || !low.has_value()) return std::nullopt;
      decoded.push_back(static_cast<char>(*high * 16 + *low));
      i += 2;
    }
  }
  // The result ends up in protobuf strings, which must be UTF-8.
  if (!IsUtf8(decoded)) return std::nullopt;
  return decoded;
}

const std::string& HttpRequest::Header(absl::string_view lower_case_name) const {
  return FindOrEmpty(headers, lower_case_name);
}

const std::string& HttpRequest::Query(const std::string& name) const {
  return FindOrEmpty(query, name);
}

const std::string& HttpRequest::Parameter(const std::string& name) const {
  return FindOrEmpty(parameters, name);
}

bool ParseTarget(absl::string_view target, HttpRequest& request) {
  std::string of_absolute;
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(target, scheme)) continue;
    absl::string_view rest = target.substr(scheme.size());
    const absl::string_view host = rest.substr(0, rest.find_first_of("/?"));
    // User info in it would be ambiguous.
    if (host.empty() || absl::StrContains(host, '@') || absl::StrContains(host, '#')) return false;
    request.headers["host"] = std::string(host);
    rest.remove_prefix(host.size());
    of_absolute = absl::StrCat(absl::StartsWith(rest, "/") ? "" : "/", rest);
    target = of_absolute;
    break;
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  auto path = PercentDecode(parts.first, /*plus_is_space=*/false);
  if (!path.has_value() || path->empty() || path->front() != '/') return false;
  request.path = *std::move(path);
  request.raw_path = std::string(parts.first);
  request.target = std::string(target);
  for (absl::string_view pair : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> entry =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    auto name = PercentDecode(entry.first, /*plus_is_space=*/true);
    auto value = PercentDecode(entry.second, /*plus_is_space=*/true);
    if (!name.has_value() || !value.has_value()) return false;
    request.query.emplace(*std::move(name), *std::move(value));
  }
  return true;
}

}  // namespace callslip::gateway
