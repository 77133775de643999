#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "callslip/tracker/v1/session.pb.h"
#include "runner/acp/message.h"

namespace callslip::runner {

// An event to record: its type, and the members of its data as JSON text, in the order in which
// they were set. docs/sessions.md lists the types and members.
class NewEvent {
 public:
  explicit NewEvent(std::string type) : type_(std::move(type)), bytes_(type_.size()) {}
  // Copies the members of an object.
  NewEvent(std::string type, const Json& object);

  // Each replaces a member of the same name.
  NewEvent& Set(const char* name, const Json& value) { return SetJson(name, Dump(value)); }
  NewEvent& SetJson(absl::string_view name, std::string json);
  NewEvent& SetUnlessEmpty(const char* name, const std::string& text) {
    return text.empty() ? *this : Set(name, text);
  }
  // Appends the string member `name` of `next` to that of this event.
  void Append(absl::string_view name, const NewEvent& next);
  // Sets all members of `next`.
  void Merge(const NewEvent& next);

  const std::string& type() const { return type_; }
  // The JSON text of a member; empty if it is absent.
  absl::string_view Find(absl::string_view name) const;
  // Approximate size of the type and data.
  size_t bytes() const { return bytes_; }
  callslip::tracker::v1::SessionEvent ToProto() const;

 private:
  std::string* FindMutable(absl::string_view name);

  std::string type_;
  std::vector<std::pair<std::string, std::string>> members_;
  size_t bytes_;
};

// An error message for users.
NewEvent ErrorEvent(const std::string& message);

}  // namespace callslip::runner
