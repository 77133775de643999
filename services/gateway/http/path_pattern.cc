#include "gateway/http/path_pattern.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

PathPattern::PathPattern(absl::string_view pattern) {
  for (absl::string_view part : absl::StrSplit(pattern, '/')) {
    const bool is_parameter = absl::ConsumePrefix(&part, "{") && absl::ConsumeSuffix(&part, "}");
    segments_.push_back({is_parameter, std::string(part)});
  }
}

bool PathPattern::HasParameters(absl::string_view path) { return absl::StrContains(path, "/{"); }

std::optional<std::map<std::string, std::string>> PathPattern::Match(
    absl::string_view raw_path) const {
  std::map<std::string, std::string> parameters;
  size_t at = 0;
  for (absl::string_view part : absl::StrSplit(raw_path, '/')) {
    if (at == segments_.size()) return std::nullopt;
    const Segment& segment = segments_[at++];
    std::optional<std::string> text = PercentDecode(part, /*plus_is_space=*/false);
    if (!text.has_value()) return std::nullopt;
    if (!segment.is_parameter) {
      if (*text != segment.text) return std::nullopt;
      continue;
    }
    if (text->empty() || text->size() > kMaxParameterBytes) return std::nullopt;
    parameters[segment.text] = *std::move(text);
  }
  if (at < segments_.size()) return std::nullopt;
  return parameters;
}

}  // namespace callslip::gateway
