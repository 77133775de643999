#ifndef CALLSLIP_GATEWAY_JSON_PARSE_H_
#define CALLSLIP_GATEWAY_JSON_PARSE_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace callslip::gateway {

// Objects are sorted maps. Not nlohmann::ordered_json: that one finds a key by looking at all of
// them, so that a page could stop the gateway for seconds with a result of 50,000 members.
using Json = nlohmann::json;

// Nesting that no honest request needs; deeper input is refused before it costs anything.
inline constexpr int kMaxJsonDepth = 64;

// Why text was refused, as the reason of the status: "malformed_json" for what is no JSON (which
// includes invalid UTF-8 and too deep nesting), "duplicate_key" and "too_many_values".
//
// A byte order mark at the beginning counts as nothing, half a character as U+FFFD (MendJson()),
// and a number without a fraction, such as 7.0 or 5e3, as an integer (IntegerIn()).
//
// Parses without exceptions. INVALID_ARGUMENT with one of these reasons.
absl::StatusOr<Json> ParseJson(const std::string& text);

// Bytes from another process that should be JSON. What ParseJson() refuses becomes a JSON string,
// so that it can be passed on and looked at, and nothing that nests without bound gets further.
Json JsonOrText(const std::string& bytes);

// Dumps on one line, also for those who take U+2028 and U+2029 for ends of lines. Invalid UTF-8,
// which only text from outside our parser can hold, is replaced.
std::string Dump(const Json& json);
// The same, at the end of `text`.
void AppendDump(const Json& json, std::string& text);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_PARSE_H_
