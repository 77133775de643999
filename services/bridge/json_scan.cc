#include "bridge/json_scan.h"

#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// Of the objects that are looked into.
constexpr size_t kUsualMembers = 8;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// `at` is an opening quote; returns the place behind the closing one.
size_t SkipString(absl::string_view text, size_t at) {
  const char* const begin = text.data() + at + 1;
  const char* const end = text.data() + text.size();
  for (const char* from = begin; from < end;) {
    const auto* quote = static_cast<const char*>(std::memchr(from, '"', end - from));
    if (quote == nullptr) break;
    const char* slashes = quote;
    while (slashes > begin && slashes[-1] == '\\') --slashes;
    from = quote + 1;
    if ((quote - slashes) % 2 == 0) return static_cast<size_t>(from - text.data());
  }
  return text.size();
}

// `at` is the first byte of an array or object; returns the place behind its last one.
size_t SkipBrackets(absl::string_view text, size_t at) {
  for (int depth = 0; at < text.size();) {
    switch (text[at]) {
      case '"':
        at = SkipString(text, at);
        continue;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
    }
    ++at;
  }
  return at;
}

// `at` is the first byte of a value; returns the place behind its last one.
size_t SkipValue(absl::string_view text, size_t at) {
  if (at == text.size()) return at;
  if (text[at] == '"') return SkipString(text, at);
  if (text[at] == '{' || text[at] == '[') return SkipBrackets(text, at);
  while (at < text.size() && text[at] != ',' && text[at] != '}' && !IsSpace(text[at])) ++at;
  return at;
}

}  // namespace

std::vector<JsonMember> ObjectMembers(absl::string_view text) {
  std::vector<JsonMember> members;
  size_t at = SkipSpace(text, 0);
  if (at == text.size() || text[at] != '{') return members;
  members.reserve(kUsualMembers);
  at = SkipSpace(text, at + 1);
  while (at < text.size() && text[at] == '"') {
    const size_t key_end = SkipString(text, at);
    const absl::string_view key = text.substr(at, key_end - at);
    const size_t colon = SkipSpace(text, key_end);
    const size_t value = SkipSpace(text, colon + 1);
    const size_t value_end = SkipValue(text, value);
    members.push_back({DecodeJsonString(key).value_or(""), text.substr(value, value_end - value)});
    at = SkipSpace(text, value_end);
    if (at < text.size() && text[at] == ',') at = SkipSpace(text, at + 1);
  }
  return members;
}

std::optional<absl::string_view> FindMember(const std::vector<JsonMember>& members,
                                            absl::string_view key) {
  const auto it = absl::c_find_if(members, [&](const auto& member) { return member.key == key; });
  if (it == members.end()) return std::nullopt;
  return it->value;
}

bool IsJsonString(absl::string_view value) { return !value.empty() && value.front() == '"'; }

bool IsJsonInteger(absl::string_view value) {
  absl::ConsumePrefix(&value, "-");
  return !value.empty() && absl::c_all_of(value, absl::ascii_isdigit);
}

std::optional<std::string> DecodeJsonString(absl::string_view value) {
  if (!IsJsonString(value) || value.size() < 2) return std::nullopt;
  if (std::memchr(value.data(), '\\', value.size()) == nullptr) {
    return std::string(value.substr(1, value.size() - 2));
  }
  const auto decoded = nlohmann::json::parse(value.begin(), value.end(), /*cb=*/nullptr,
                                             /*allow_exceptions=*/false);
  if (!decoded.is_string()) return std::nullopt;
  return decoded.get<std::string>();
}

std::string OnOneLine(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::StrContains(text, '\n') && !absl::StrContains(text, '\r')) return std::string(text);
  std::string line;
  line.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = text[at] == '"' ? SkipString(text, at) : at + 1;
    if (!IsSpace(text[at])) line.append(text.data() + at, end - at);
    at = end;
  }
  return line;
}

}  // namespace callslip::bridge
