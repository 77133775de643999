#include "runner/session/new_event.h"

#include "absl/strings/str_cat.h"

namespace callslip::runner {
namespace {

// The quotes, colon and comma of a member.
constexpr size_t kAround = 4;

}  // namespace

NewEvent::NewEvent(std::string type, const Json& object) : NewEvent(std::move(type)) {
  for (const auto& [name, value] : object.items()) {
    members_.emplace_back(name, Dump(value));
    bytes_ += name.size() + kAround + members_.back().second.size();
  }
}

std::string* NewEvent::FindMutable(absl::string_view name) {
  for (auto& [known, json] : members_) {
    if (known == name) return &json;
  }
  return nullptr;
}

absl::string_view NewEvent::Find(absl::string_view name) const {
  for (const auto& [known, json] : members_) {
    if (known == name) return json;
  }
  return "";
}

NewEvent& NewEvent::SetJson(absl::string_view name, std::string json) {
  bytes_ += json.size();
  if (std::string* known = FindMutable(name); known != nullptr) {
    bytes_ -= known->size();
    *known = std::move(json);
  } else {
    bytes_ += name.size() + kAround;
    members_.emplace_back(name, std::move(json));
  }
  return *this;
}

void NewEvent::Append(absl::string_view name, const NewEvent& next) {
  const absl::string_view more = next.Find(name);
  std::string* text = FindMutable(name);
  const bool are_texts = text != nullptr && text->front() == '"' && !more.empty() && more[0] == '"';
  if (!are_texts) return;
  // Joins the contents of the two quoted strings.
  text->pop_back();
  absl::StrAppend(text, more.substr(1));
  bytes_ += more.size() - 2;
}

void NewEvent::Merge(const NewEvent& next) {
  for (const auto& [name, json] : next.members_) SetJson(name, json);
}

callslip::tracker::v1::SessionEvent NewEvent::ToProto() const {
  callslip::tracker::v1::SessionEvent event;
  event.set_type(type_);
  std::string& data = *event.mutable_data();
  data.reserve(bytes_);
  for (const auto& [name, json] : members_) {
    absl::StrAppend(&data, data.empty() ? "{" : ",", Dump(Json(name)), ":", json);
  }
  data += data.empty() ? "{}" : "}";
  return event;
}

NewEvent ErrorEvent(const std::string& message) {
  NewEvent event("error");
  event.Set("message", message);
  return event;
}

}  // namespace callslip::runner
