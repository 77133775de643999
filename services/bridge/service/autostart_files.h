#ifndef CALLSLIP_BRIDGE_SERVICE_AUTOSTART_FILES_H_
#define CALLSLIP_BRIDGE_SERVICE_AUTOSTART_FILES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

// The files by which the processes of --autostart find each other. They may lie in /tmp, where
// others remove what looks forgotten.
namespace callslip::bridge {

// Opens the file at `path`, which is made where it is missing, and takes its lock, LOCK_SH or
// LOCK_EX; waits for that. What lies at `path` by then may be another file: see IsAt().
absl::StatusOr<int> OpenAndLock(const std::string& path, int operation);

// True where the file that `fd` has open is the one at `path`.
bool IsAt(int fd, const std::string& path);

// Those of the files that are there look as if they had just been used.
void Touch(const std::vector<std::string>& paths);

// Empties a log of more than `max_bytes`, whose writers append to it; its last `max_bytes` are then
// in `path`.old.
void BoundLog(const std::string& path, size_t max_bytes);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_SERVICE_AUTOSTART_FILES_H_
