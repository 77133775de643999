#include "common/directories.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace callslip {
namespace {

std::vector<absl::string_view> ComponentsOf(absl::string_view path) {
  std::vector<absl::string_view> components = absl::StrSplit(path, '/', absl::SkipEmpty());
  std::erase(components, ".");
  return components;
}

}  // namespace

bool IsInside(absl::string_view path, absl::string_view dir) {
  return RelativeTo(path, dir).has_value();
}

std::optional<std::string> RelativeTo(absl::string_view path, absl::string_view dir) {
  if (!absl::StartsWith(path, "/") || !absl::StartsWith(dir, "/")) return std::nullopt;
  const std::vector<absl::string_view> inner = ComponentsOf(path);
  const std::vector<absl::string_view> outer = ComponentsOf(dir);
  if (absl::c_linear_search(inner, "..") || absl::c_linear_search(outer, "..")) return std::nullopt;
  if (outer.size() > inner.size()) return std::nullopt;
  const auto [end, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin());
  if (end != outer.end()) return std::nullopt;
  return rest == inner.end() ? "." : absl::StrJoin(rest, inner.end(), "/");
}

size_t DepthOf(absl::string_view dir) { return ComponentsOf(dir).size(); }

}  // namespace callslip
