#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace callslip::bridge {

// Extracts from a line that is too long to keep whether it is a request, and its id. Reads each
// byte once and keeps the name and the value of one member at a time, each within a limit. Does not
// check that the line is JSON.
class SkippedLine {
 public:
  // Adds the next bytes of the line.
  void Add(absl::string_view bytes);

  // The id of the request, in JSON bytes; empty if the line is not a request, or has no valid id or
  // more than one.
  std::string RequestId() const;

 private:
  // Adds a byte of the outermost object itself, outside of strings.
  void AddPunctuation(char c);
  void Keep(char c);
  // A member of the outermost object is complete.
  void EndMember();

  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_value_ = false;  // In a member's value in the outermost object.
  std::string name_;
  std::string value_;
  bool is_too_long_ = false;  // The name or the value.
  std::string id_;
  int ids_ = 0;
  bool has_method_ = false;
};

}  // namespace callslip::bridge
