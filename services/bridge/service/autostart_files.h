#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

// The files through which the processes of --autostart coordinate. They may be in /tmp, where old
// files are removed.
namespace callslip::bridge {

// Opens the file at `path`, creating it if it is missing, and waits for its lock, LOCK_SH or
// LOCK_EX. The file at `path` may have been replaced meanwhile: see IsAt().
absl::StatusOr<int> OpenAndLock(const std::string& path, int operation);

// True if `fd` refers to the file at `path`.
bool IsAt(int fd, const std::string& path);

// Updates the times of the files that exist.
void Touch(const std::vector<std::string>& paths);

// Empties a log of more than `max_bytes` that its writers append to; its last `max_bytes` are then
// in `path`.old.
void BoundLog(const std::string& path, size_t max_bytes);

}  // namespace callslip::bridge
