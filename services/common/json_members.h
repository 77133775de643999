#pragma once

#include <string>

#include "nlohmann/json.hpp"

// JSON whose members may be missing or of any type, and its text.
namespace callslip {

// The member, or null if it is absent or `json` is not an object.
const nlohmann::json& MemberOf(const nlohmann::json& json, const char* name);
// Empty if the member is not text.
std::string TextOf(const nlohmann::json& json, const char* name);
// False unless the member is true.
bool IsTrue(const nlohmann::json& json, const char* name);

// Returns one line, even for readers that treat U+2028 and U+2029 as line ends. Invalid UTF-8
// becomes U+FFFD.
std::string Dump(const nlohmann::json& json);
std::string Dump(const nlohmann::ordered_json& json);

}  // namespace callslip
