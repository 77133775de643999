#ifndef CALLSLIP_RUNNER_SESSION_NEW_EVENT_H_
#define CALLSLIP_RUNNER_SESSION_NEW_EVENT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "callslip/tracker/v1/session.pb.h"
#include "runner/acp/message.h"

namespace callslip::runner {

// An event that is to be recorded: its type, and the members of its data as JSON text, in the order
// in which they were set. docs/sessions.md lists them.
class NewEvent {
 public:
  explicit NewEvent(std::string type) : type_(std::move(type)), bytes_(type_.size()) {}
  // With the members of an object.
  NewEvent(std::string type, const Json& object);

  // Each replaces a member of the same name.
  NewEvent& Set(const char* name, const Json& value) { return SetJson(name, Dump(value)); }
  NewEvent& SetJson(absl::string_view name, std::string json);
  NewEvent& SetUnlessEmpty(const char* name, const std::string& text) {
    return text.empty() ? *this : Set(name, text);
  }
  // Continues the string member `name` with that of `next`.
  void Append(absl::string_view name, const NewEvent& next);
  // Takes over all members of `next`.
  void Merge(const NewEvent& next);

  const std::string& type() const { return type_; }
  // The JSON text of a member; empty if it is absent.
  absl::string_view Find(absl::string_view name) const;
  // Of its type and data, about.
  size_t bytes() const { return bytes_; }
  callslip::tracker::v1::SessionEvent ToProto() const;

 private:
  std::string* FindMutable(absl::string_view name);

  std::string type_;
  std::vector<std::pair<std::string, std::string>> members_;
  size_t bytes_;
};

// What has gone wrong, for people.
NewEvent ErrorEvent(const std::string& message);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_NEW_EVENT_H_
