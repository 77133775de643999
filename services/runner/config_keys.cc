#include "runner/config_keys.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config.h"
#include "common/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace callslip::runner {
namespace {

constexpr char kText[] = "text";

absl::Status Bad(absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("write ", wanted));
}

absl::Status ReadText(const YAML::Node& node, std::string* target) {
  if (node.IsNull()) {
    target->clear();
    return absl::OkStatus();
  }
  if (!node.IsScalar()) return Bad("a plain value");
  *target = node.Scalar();
  return absl::OkStatus();
}

// Reads a plain value.
std::function<absl::Status(const YAML::Node&)> ReaderOf(ValueSetter set) {
  return [set = std::move(set)](const YAML::Node& node) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, &text));
    return set(text);
  };
}

std::string ListText(const std::vector<std::string>& list) {
  return absl::StrCat("[", absl::StrJoin(list, ", "), "]");
}

size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Returns the first problem.
absl::Status ReadPolicy(const YAML::Node& node, PermissionPolicy* target) {
  if (!node.IsMap()) return Bad("a map of kinds of tools to answers");
  std::vector<std::string> kinds(kToolKinds.begin(), kToolKinds.end());
  kinds.push_back("default");
  for (const auto& entry : node) {
    std::string kind;
    std::string answer;
    RETURN_IF_ERROR(ReadText(entry.first, &kind));
    RETURN_IF_ERROR(ReadText(entry.second, &answer));
    const std::optional<PermissionRule> rule = ParsePermissionRule(answer);
    if (!rule.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", answer, "\" for ", kind, ": write one of ", absl::StrJoin(kPermissionRules, ", ")));
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", kind, "\" is not a kind of tool",
                                                     Suggestion(kind, kinds), "; there are ",
                                                     absl::StrJoin(kinds, ", ")));
    }
    (kind == "default" ? target->otherwise : target->by_kind[kind]) = *rule;
  }
  return absl::OkStatus();
}

}  // namespace

std::string ProblemAt(absl::string_view file, int line, absl::string_view text) {
  return absl::StrCat(file, ":", line, ": ", text);
}

std::string Suggestion(absl::string_view written, const std::vector<std::string>& names) {
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(2, written.size() / 3) + 1;
  for (const std::string& name : names) {
    if (const size_t distance = Distance(written, name); distance < least) {
      least = distance;
      nearest = &name;
    }
  }
  return nearest == nullptr ? "" : absl::StrCat(", did you mean \"", *nearest, "\"?");
}

void ForEachEntry(const YAML::Node& map, absl::string_view file, absl::string_view where,
                  std::vector<std::string>& problems,
                  const std::function<void(const std::string&, const YAML::Node&, int)>& take) {
  if (map.IsNull()) return;
  if (!map.IsMap()) {
    problems.push_back(ProblemAt(file, map.Mark().line + 1,
                                 absl::StrCat(where, " has to hold `key: value` lines")));
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const int line = entry.first.Mark().line + 1;
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!seen.insert(key).second) {
      problems.push_back(
          ProblemAt(file, line, absl::StrCat("\"", key, "\" occurs twice in ", where)));
      continue;
    }
    take(key, entry.second, line);
  }
}

void ConfigKeys::Add(absl::string_view name, std::string* target, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), *target, kText,
                   [target](const YAML::Node& node) { return ReadText(node, target); }});
}

void ConfigKeys::Add(absl::string_view name, bool* target, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), *target ? "true" : "false",
                   "true or false", ReaderOf(SetterOf(target))});
}

void ConfigKeys::Add(absl::string_view name, Address* target, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), target->ToString(),
                   "HOST:PORT or unix:PATH", ReaderOf(SetterOf(target))});
}

void ConfigKeys::Add(absl::string_view name, int* target, int min, int max,
                     absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), absl::StrCat(*target),
                   absl::StrCat(min, " to ", max), ReaderOf(SetterOf(target, min, max))});
}

void ConfigKeys::Add(absl::string_view name, absl::Duration* target, absl::Duration min,
                     absl::Duration max, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), absl::FormatDuration(*target),
                   absl::StrCat(absl::FormatDuration(min), " to ", absl::FormatDuration(max)),
                   ReaderOf(SetterOf(target, min, max, "90s or 15m"))});
}

void ConfigKeys::Add(absl::string_view name, std::vector<std::string>* target,
                     absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), ListText(*target), "a list",
                   [target](const YAML::Node& node) {
                     target->clear();
                     if (node.IsNull()) return absl::OkStatus();
                     if (!node.IsSequence()) return Bad("a list, such as [opencode, acp]");
                     for (const YAML::Node& item : node) {
                       if (!item.IsScalar()) return Bad("a list of plain values");
                       target->push_back(item.Scalar());
                     }
                     return absl::OkStatus();
                   }});
}

void ConfigKeys::Add(absl::string_view name, std::map<std::string, std::string>* target,
                     absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), "{}", "a map of texts",
                   [target](const YAML::Node& node) {
                     target->clear();
                     if (node.IsNull()) return absl::OkStatus();
                     if (!node.IsMap()) return Bad("a map, such as {NAME: value}");
                     for (const auto& entry : node) {
                       std::string value;
                       if (!entry.first.IsScalar() || !ReadText(entry.second, &value).ok()) {
                         return Bad("a map of plain values");
                       }
                       (*target)[entry.first.Scalar()] = value;
                     }
                     return absl::OkStatus();
                   }});
}

void ConfigKeys::Add(absl::string_view name, PermissionPolicy* target, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), "{default: ask}",
                   absl::StrCat("a map of ", absl::StrJoin(kToolKinds, ", "), ", default to ",
                                absl::StrJoin(kPermissionRules, ", ")),
                   [target](const YAML::Node& node) { return ReadPolicy(node, target); }});
}

void ConfigKeys::AddChoice(absl::string_view name, std::string* target,
                           const std::vector<std::string>& choices, absl::string_view help) {
  keys_.push_back({std::string(name), std::string(help), *target, absl::StrJoin(choices, ", "),
                   ReaderOf(SetterOf(target, choices, ", "))});
}

void ConfigKeys::AddSection(absl::string_view name, std::function<void(const YAML::Node&)> read) {
  keys_.push_back({std::string(name), "", "", "", [read = std::move(read)](const YAML::Node& node) {
                     read(node);
                     return absl::OkStatus();
                   }});
}

void ConfigKeys::Read(const YAML::Node& node, absl::string_view file, absl::string_view where,
                      std::vector<std::string>& problems) const {
  ForEachEntry(
      node, file, where, problems, [&](const std::string& name, const YAML::Node& value, int line) {
        const auto key = std::find_if(keys_.begin(), keys_.end(),
                                      [&](const Key& known) { return known.name == name; });
        if (key == keys_.end()) {
          std::vector<std::string> names;
          for (const Key& known : keys_) names.push_back(known.name);
          problems.push_back(ProblemAt(
              file, line,
              absl::StrCat("unknown key \"", name, "\" in ", where, Suggestion(name, names))));
          return;
        }
        if (const absl::Status bad = key->set(value); !bad.ok()) {
          problems.push_back(ProblemAt(
              file, line,
              absl::StrCat("bad value for \"", name, "\" in ", where, ": ", bad.message())));
        }
      });
}

std::vector<std::string> ConfigKeys::Rows(absl::string_view prefix) const {
  std::vector<std::string> rows;
  for (const Key& key : keys_) {
    if (key.help.empty()) continue;
    rows.push_back(absl::StrCat("| `", prefix, key.name, "` | ", key.help, " | ",
                                key.otherwise.empty() ? "" : absl::StrCat("`", key.otherwise, "`"),
                                " | ", key.range, " |"));
  }
  return rows;
}

}  // namespace callslip::runner
