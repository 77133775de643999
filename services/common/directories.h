#ifndef CALLSLIP_COMMON_DIRECTORIES_H_
#define CALLSLIP_COMMON_DIRECTORIES_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// Directories as they are written, whatever is on the disk.
namespace callslip {

// Whether `path` is `dir` or below it, by components. False where either is not absolute or has a
// component `..`.
bool IsInside(absl::string_view path, absl::string_view dir);

// The way from `dir` to `path`, "." where they are the same; nothing where it is not inside.
std::optional<std::string> RelativeTo(absl::string_view path, absl::string_view dir);

// How many components lead to it: 0 for `/`.
size_t DepthOf(absl::string_view dir);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_DIRECTORIES_H_
