#ifndef CALLSLIP_GATEWAY_JSON_PARSE_H_
#define CALLSLIP_GATEWAY_JSON_PARSE_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace callslip::gateway {

using Json = nlohmann::json;
// Keeps members in the order in which they were added: for answers, so that they read well.
using OrderedJson = nlohmann::ordered_json;

// Nesting that no honest request needs; deeper input is refused before it costs anything.
inline constexpr int kMaxJsonDepth = 64;

// Why text was refused, as the reason of the status: "malformed_json" for what is no JSON (which
// includes invalid UTF-8 and too deep nesting) and "duplicate_key".
//
// Parses without exceptions. INVALID_ARGUMENT with one of these reasons.
absl::StatusOr<Json> ParseJson(const std::string& text);

// Dumps on one line. Invalid UTF-8, which only text from outside our parser can hold, is replaced.
std::string Dump(const OrderedJson& json);
std::string Dump(const Json& json);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_PARSE_H_
