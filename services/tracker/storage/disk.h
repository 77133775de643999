#ifndef CALLSLIP_TRACKER_STORAGE_DISK_H_
#define CALLSLIP_TRACKER_STORAGE_DISK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/storage/file.h"

namespace callslip::tracker {

// Every step that changes something on the disk, so that a test can let the process die before,
// within or after each of them. Errors are StorageFailed, and name the path. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;

  // Opens `path` for reading and appending; `create` makes it where it is missing.
  virtual absl::StatusOr<File> OpenForAppend(const std::string& path, bool create);
  // Makes `path`, or empties it.
  virtual absl::StatusOr<File> OpenEmpty(const std::string& path);
  // Writes all of `bytes` at the file's end.
  virtual absl::Status Write(const File& file, absl::string_view bytes);
  // What was written survives the machine from here on.
  virtual absl::Status Sync(const File& file);
  virtual absl::Status Truncate(const File& file, int64_t size);
  virtual absl::Status Rename(const std::string& from, const std::string& to);
  // What was made, renamed or removed in a folder survives the machine from here on.
  virtual absl::Status SyncFolder(const std::string& path);
  virtual absl::Status MakeFolder(const std::string& path);
  // Harmless where there is no such file.
  virtual absl::Status RemoveFile(const std::string& path);
  virtual absl::Status RemoveFolder(const std::string& path);

  // Replaces the contents of `folder`/`name`, whole or not at all, durably: by a temporary file,
  // its sync, its renaming and a sync of the folder.
  absl::Status ReplaceFile(const std::string& folder, const std::string& name,
                           absl::string_view contents);
};

// The contents of a file of up to `max_bytes`. NOT_FOUND where there is none, StorageFailed.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes);

// StorageFailed with the present errno.
absl::Status DiskError(absl::string_view what, absl::string_view path);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_DISK_H_
