#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/json_members.h"
#include "nlohmann/json.hpp"

// JSON as in the files of sessions.
namespace callslip::tracker {

// Writes members in the order in which they are set, so that files look as documented. For objects
// with few members only: lookups are linear.
using FileJson = nlohmann::ordered_json;
// JSON from other sources, with any number of members.
using Json = nlohmann::json;

// Parses without exceptions, in linear time. Nullopt if the text is not JSON or nests deeper than
// `max_depth`; the default is deeper than anything in our files.
std::optional<Json> ParseJson(absl::string_view text, int max_depth = 80);

// InvalidField unless `text` is a JSON object, or empty.
absl::Status CheckJsonObject(absl::string_view field, absl::string_view text);

// Wall-clock times in RFC 3339 in UTC, to the nanosecond: "2026-02-01T12:00:00.5Z".
std::string FormatTimestamp(absl::Time time);
std::optional<absl::Time> ParseTimestamp(absl::string_view text);

// A member of an object, or 0 or nullopt if it is missing or has another type.
int64_t IntAt(const Json& object, const char* key);
std::optional<absl::Time> TimeAt(const Json& object, const char* key);

}  // namespace callslip::tracker
