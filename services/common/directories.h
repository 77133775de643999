#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// Functions on directory paths as text; they do not look at the disk.
namespace callslip {

// Whether `path` is `dir` or below it, compared by components. False if either is not absolute or
// has a `..` component.
bool IsInside(absl::string_view path, absl::string_view dir);

// The relative path from `dir` to `path`, "." if they are the same; nullopt if `path` is not inside
// `dir`.
std::optional<std::string> RelativeTo(absl::string_view path, absl::string_view dir);

// The number of components in `dir`: 0 for `/`.
size_t DepthOf(absl::string_view dir);

}  // namespace callslip
