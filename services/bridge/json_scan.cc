#include "bridge/json_scan.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/limits.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// `at` is an opening quote; returns the place behind the closing one.
size_t SkipString(absl::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// `at` is the first byte of a value; returns the place behind its last one.
size_t SkipValue(absl::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (depth == 0 && (c == ',' || IsSpace(c))) return at;
    ++at;
  }
  return at;
}

int Depth(absl::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return deepest;
}

}  // namespace

absl::Status CheckJson(absl::string_view text) {
  if (Depth(text) > kMaxJsonDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON nests more than ", kMaxJsonDepth, " levels deep"));
  }
  if (!nlohmann::json::accept(text.begin(), text.end())) {
    return absl::InvalidArgumentError("the text is no valid JSON in UTF-8");
  }
  return absl::OkStatus();
}

std::vector<JsonMember> ObjectMembers(absl::string_view text) {
  std::vector<JsonMember> members;
  size_t at = SkipSpace(text, 0);
  if (at == text.size() || text[at] != '{') return members;
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
  if (!absl::c_linear_search(value, '\\')) return std::string(value.substr(1, value.size() - 2));
  const auto decoded = nlohmann::json::parse(value.begin(), value.end(), /*cb=*/nullptr,
                                             /*allow_exceptions=*/false);
  if (!decoded.is_string()) return std::nullopt;
  return decoded.get<std::string>();
}

std::string OnOneLine(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.find_first_of("\r\n") == absl::string_view::npos) return std::string(text);
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
