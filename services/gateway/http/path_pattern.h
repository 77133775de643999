#ifndef CALLSLIP_GATEWAY_HTTP_PATH_PATTERN_H_
#define CALLSLIP_GATEWAY_HTTP_PATH_PATTERN_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// A path with parameters: "/api/sessions/{id}/queue/{msg_id}". A parameter stands for one whole
// segment, which is neither empty nor longer than kMaxParameterBytes; all other segments are
// matched exactly. Split before it is decoded: an encoded slash belongs to its segment. A last one
// with three dots, "/ui/{path...}", stands for all that follows, which is not empty and as long at
// most.
class PathPattern {
 public:
  // Ids of every kind are shorter. Counted once decoded.
  static constexpr size_t kMaxParameterBytes = 256;

  // `pattern` starts with a slash.
  explicit PathPattern(absl::string_view pattern);

  // True for a path that has parameters.
  static bool HasParameters(absl::string_view path);

  // The parameters by name, decoded, or nullopt where `raw_path`, as it came, does not match.
  std::optional<std::map<std::string, std::string>> Match(absl::string_view raw_path) const;

 private:
  struct Segment {
    bool is_parameter = false;
    bool is_rest = false;
    std::string text;  // The name of the parameter, or what is to stand there.
  };

  std::vector<Segment> segments_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_PATH_PATTERN_H_
