#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "runner/session/permission_policy.h"

namespace YAML {
class Node;
}

namespace callslip::runner {

// The valid keys of a map in a YAML file, each with its target variable and its description in
// docs/runner.md. The targets must outlive this.
class ConfigKeys {
 public:
  // Same units and same error messages as for flags in common/config.h.
  void Add(absl::string_view name, std::string* target, absl::string_view help);
  void Add(absl::string_view name, bool* target, absl::string_view help);
  void Add(absl::string_view name, Address* target, absl::string_view help);
  void Add(absl::string_view name, int* target, int min, int max, absl::string_view help);
  void Add(absl::string_view name, absl::Duration* target, absl::Duration min, absl::Duration max,
           absl::string_view help);
  // A sequence.
  void Add(absl::string_view name, std::vector<std::string>* target, absl::string_view help);
  // A map of names to values.
  void Add(absl::string_view name, std::map<std::string, std::string>* target,
           absl::string_view help);
  // A map of kToolKinds and `default` to kPermissionRules.
  void Add(absl::string_view name, PermissionPolicy* target, absl::string_view help);

  void AddChoice(absl::string_view name, std::string* target,
                 const std::vector<std::string>& choices, absl::string_view help);
  // A section that `read` parses; it has no row.
  void AddSection(absl::string_view name, std::function<void(const YAML::Node&)> read);

  // Reads the map `node`, which messages call `where`. Appends to `problems`: unknown and repeated
  // keys and invalid values, each with the prefix `file:line: `.
  void Read(const YAML::Node& node, absl::string_view file, absl::string_view where,
            std::vector<std::string>& problems) const;

  // A table row for each key: | `prefix` key | meaning | default | range |.
  std::vector<std::string> Rows(absl::string_view prefix) const;

 private:
  struct Key {
    std::string name;
    std::string help;
    std::string otherwise;  // The default.
    std::string range;
    // Sets the target; returns what is wrong with an invalid value.
    std::function<absl::Status(const YAML::Node&)> set;
  };

  std::vector<Key> keys_;
};

// `did you mean "X"?` with the name most similar to `written`; empty if none is similar.
std::string Suggestion(absl::string_view written, const std::vector<std::string>& names);

// Calls `take` with each key, value and line of a map; repeated keys and a node that is not a map
// become problems.
void ForEachEntry(
    const YAML::Node& map, absl::string_view file, absl::string_view where,
    std::vector<std::string>& problems,
    const std::function<void(const std::string& key, const YAML::Node& value, int line)>& take);

// `file:line: text`.
std::string ProblemAt(absl::string_view file, int line, absl::string_view text);

}  // namespace callslip::runner
