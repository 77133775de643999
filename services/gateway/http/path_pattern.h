#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// A path with parameters: "/api/sessions/{id}/queue/{msg_id}". A parameter stands for one whole
// segment, which is not empty and not longer than kMaxParameterBytes; all other segments must match
// exactly. The path is split before it is decoded: an encoded slash belongs to its segment. A last
// parameter with three dots, "/ui/{path...}", stands for the whole rest, which is not empty and has
// the same maximum length.
class PathPattern {
 public:
  // IDs of every kind are shorter. Counted after decoding.
  static constexpr size_t kMaxParameterBytes = 256;

  // `pattern` must start with a slash.
  explicit PathPattern(absl::string_view pattern);

  static bool HasParameters(absl::string_view path);

  // The parameters by name, decoded, or nullopt if `raw_path`, as received, does not match.
  std::optional<std::map<std::string, std::string>> Match(absl::string_view raw_path) const;

 private:
  struct Segment {
    bool is_parameter = false;
    bool is_rest = false;
    std::string text;  // The name of the parameter, or the text to match.
  };

  std::vector<Segment> segments_;
};

}  // namespace callslip::gateway
