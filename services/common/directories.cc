#include "common/directories.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
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
  if (!absl::StartsWith(path, "/") || !absl::StartsWith(dir, "/")) return false;
  const std::vector<absl::string_view> inner = ComponentsOf(path);
  const std::vector<absl::string_view> outer = ComponentsOf(dir);
  if (absl::c_linear_search(inner, "..") || absl::c_linear_search(outer, "..")) return false;
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

size_t DepthOf(absl::string_view dir) { return ComponentsOf(dir).size(); }

}  // namespace callslip
