#pragma once

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/file.h"

// Access to files beneath an open folder. Paths cannot escape the folder, even if something is
// swapped during the call. Errors name `path` and the cause: NOT_FOUND; PERMISSION_DENIED if it
// leads out of the folder; FAILED_PRECONDITION if it is not of the requested kind; otherwise the
// system's error.
namespace callslip {

// Opens a folder to use as the root of other paths.
absl::StatusOr<File> OpenFolderBeneath(int root, absl::string_view path);

// Reads a whole regular file. OUT_OF_RANGE if it has more than `most` bytes.
absl::StatusOr<std::string> ReadBeneath(int root, absl::string_view path, size_t most);

// Replaces a file atomically and keeps its mode. If there is none, creates it and its parent
// folders. Writes through a symbolic link, unless the link leads nowhere. CANCELLED, with nothing
// changed, if `is_wanted` is false once the content has been written.
absl::Status WriteBeneath(int root, absl::string_view path, absl::string_view content,
                          const std::atomic<bool>& is_wanted);

}  // namespace callslip
