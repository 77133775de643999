#ifndef CALLSLIP_TRACKER_STORAGE_JSON_H_
#define CALLSLIP_TRACKER_STORAGE_JSON_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

// JSON as the files of sessions have it.
namespace callslip::tracker {

// Members are written in the order in which they are set, so that files read as they are
// documented. For objects with few members only: it finds one by looking at all.
using FileJson = nlohmann::ordered_json;
// What others have put together, with any number of members.
using Json = nlohmann::json;

// Parses without exceptions, in a time that grows as the text. Nothing for what is no JSON, and for
// what nests deeper than `max_depth`: than anything that our files hold.
std::optional<Json> ParseJson(absl::string_view text, int max_depth = 80);

// InvalidField unless `text` is a JSON object, or empty.
absl::Status CheckJsonObject(absl::string_view field, absl::string_view text);

// On one line. What is not UTF-8 is replaced by U+FFFD.
std::string Dump(const FileJson& json);
std::string Dump(const Json& json);

// The wall clock's times of a process's, in RFC 3339 in UTC, to the nanosecond:
// "2026-02-01T12:00:00.5Z".
std::string FormatTimestamp(absl::Time time);
std::optional<absl::Time> ParseTimestamp(absl::string_view text);

// Members of an object, or a default where they are missing or of another type.
std::string StringAt(const Json& object, const char* key);
int64_t IntAt(const Json& object, const char* key, int64_t otherwise = 0);
bool BoolAt(const Json& object, const char* key, bool otherwise = false);
std::optional<absl::Time> TimeAt(const Json& object, const char* key);
// Null where it is missing.
const Json* Find(const Json& object, const char* key);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_JSON_H_
