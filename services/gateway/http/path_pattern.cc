#include "gateway/http/path_pattern.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

PathPattern::PathPattern(absl::string_view pattern) {
  for (absl::string_view part : absl::StrSplit(pattern, '/')) {
    const bool is_parameter = absl::ConsumePrefix(&part, "{") && absl::ConsumeSuffix(&part, "}");
    const bool is_rest = is_parameter && absl::ConsumeSuffix(&part, "...");
    segments_.push_back({is_parameter, is_rest, std::string(part)});
  }
}

bool PathPattern::HasParameters(absl::string_view path) { return absl::StrContains(path, "/{"); }

std::optional<std::map<std::string, std::string>> PathPattern::Match(
    absl::string_view raw_path) const {
  std::map<std::string, std::string> parameters;
  size_t at = 0;
  bool is_in_rest = false;
  for (absl::string_view part : absl::StrSplit(raw_path, '/')) {
    if (at == segments_.size() && !is_in_rest) return std::nullopt;
    const Segment& segment = is_in_rest ? segments_.back() : segments_[at++];
    std::optional<std::string> text = PercentDecode(part, /*plus_is_space=*/false);
    if (!text.has_value()) return std::nullopt;
    if (!segment.is_parameter) {
      if (*text != segment.text) return std::nullopt;
      continue;
    }
    std::string& value = parameters[segment.text];
    if (is_in_rest) {
      absl::StrAppend(&value, "/", *text);
    } else {
      if (text->empty()) return std::nullopt;
      value = *std::move(text);
    }
    if (value.size() > kMaxParameterBytes) return std::nullopt;
    is_in_rest = segment.is_rest;
  }
  if (at < segments_.size()) return std::nullopt;
  return parameters;
}

}  // namespace callslip::gateway
