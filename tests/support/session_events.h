#pragma once

#include <string>

#include "callslip/tracker/v1/session.pb.h"
#include "nlohmann/json.hpp"

// Events of sessions, as tests make and read them.
namespace callslip::tracker::v1 {

inline SessionEvent MakeEvent(const std::string& type, const nlohmann::json& data) {
  SessionEvent event;
  event.set_type(type);
  event.set_data(data.dump());
  return event;
}

inline SessionEvent MakeMessage(const std::string& text) {
  return MakeEvent("agent_message", {{"text", text}});
}

inline nlohmann::json DataOf(const SessionEvent& event) {
  return nlohmann::json::parse(event.data(), nullptr, /*allow_exceptions=*/false);
}

// A member of its data: a string, or JSON of another kind as text; empty if it is absent.
inline std::string MemberOf(const SessionEvent& event, const char* name) {
  const nlohmann::json data = DataOf(event);
  if (!data.is_object() || !data.contains(name)) return "";
  return data[name].is_string() ? data[name].get<std::string>() : data[name].dump();
}

}  // namespace callslip::tracker::v1
