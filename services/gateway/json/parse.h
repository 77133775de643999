#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace callslip::gateway {

// Objects are sorted maps. Not nlohmann::ordered_json, which finds a key by comparing it with all
// others: a page could stop the gateway for seconds with a result of 50,000 members.
using Json = nlohmann::json;

// No legitimate request nests deeper; deeper input is refused before it costs anything.
inline constexpr int kMaxJsonDepth = 64;

// Why text was refused, as the reason of the status: "malformed_json" for invalid JSON (including
// invalid UTF-8 and too deep nesting), "duplicate_key" and "too_many_values".
//
// A byte order mark at the beginning is ignored, half a surrogate pair becomes U+FFFD (MendJson()),
// and a number without a fraction, such as 7.0 or 5e3, is an integer (IntegerIn()).
//
// Parses without exceptions. INVALID_ARGUMENT with one of these reasons.
absl::StatusOr<Json> ParseJson(const std::string& text);

// For bytes from another process that should be JSON. Input that ParseJson() refuses becomes a JSON
// string, so that it can be passed on and inspected, and unbounded nesting goes no further.
Json JsonOrText(const std::string& bytes);

// Serializes on one line, even for readers that treat U+2028 and U+2029 as line ends. Invalid
// UTF-8, which only text from outside our parser can contain, is replaced.
std::string Dump(const Json& json);
// Appends Dump() to `text`.
void AppendDump(const Json& json, std::string& text);

}  // namespace callslip::gateway
