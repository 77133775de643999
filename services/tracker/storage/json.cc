#include "tracker/storage/json.h"

#include <algorithm>
#include <cstddef>

#include "common/clock.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

constexpr char kTimestampFormat[] = "%Y-%m-%dT%H:%M:%E*SZ";

// The nesting depth of a JSON text.
int DepthOf(absl::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool is_in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_in_string) {
      if (c == '\\') ++at;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

// The gateway allows 64 levels in a tool's raw input; the rest are our own.
std::optional<Json> ParseJson(absl::string_view text, int max_depth) {
  // Not with a callback of the parser, which would rescan a whole array after each of its elements.
  if (DepthOf(text) > max_depth) return std::nullopt;
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

absl::Status CheckJsonObject(absl::string_view field, absl::string_view text) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<Json> json = ParseJson(text);
  if (json.has_value() && json->is_object()) return absl::OkStatus();
  return InvalidField(field, "is not a JSON object, or nests too deep");
}

std::string FormatTimestamp(absl::Time time) {
  return absl::FormatTime(kTimestampFormat, ToWallTime(time), absl::UTCTimeZone());
}

std::optional<absl::Time> ParseTimestamp(absl::string_view text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return std::nullopt;
  return FromWallTime(time);
}

int64_t IntAt(const Json& object, const char* key) {
  const Json& member = MemberOf(object, key);
  return member.is_number_integer() ? member.get<int64_t>() : 0;
}

std::optional<absl::Time> TimeAt(const Json& object, const char* key) {
  return ParseTimestamp(TextOf(object, key));
}

}  // namespace callslip::tracker
