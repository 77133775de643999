#include "common/json_members.h"

#include "common/text_scan.h"

namespace callslip {
namespace {

template <typename Json>
std::string LineOf(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  EscapeLineSeparators(text);
  return text;
}

}  // namespace

const nlohmann::json& MemberOf(const nlohmann::json& json, const char* name) {
  static const auto& none = *new nlohmann::json();
  if (!json.is_object()) return none;
  const auto it = json.find(name);
  return it == json.end() ? none : *it;
}

std::string TextOf(const nlohmann::json& json, const char* name) {
  const nlohmann::json& member = MemberOf(json, name);
  return member.is_string() ? member.get<std::string>() : "";
}

bool IsTrue(const nlohmann::json& json, const char* name) { return MemberOf(json, name) == true; }

std::string Dump(const nlohmann::json& json) { return LineOf(json); }
std::string Dump(const nlohmann::ordered_json& json) { return LineOf(json); }

}  // namespace callslip
