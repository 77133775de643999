#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/file.h"

namespace callslip::tracker {

inline std::string JoinPath(absl::string_view folder, absl::string_view name) {
  return absl::StrCat(folder, "/", name);
}

// One disk operation, as seen by subclasses that count, time or fail steps.
struct DiskStep {
  enum class Kind { kRead, kOpen, kEmpty, kWrite, kSync, kTruncate, kRename, kSyncFolder, kOther };
  Kind kind;                     // kOther: creates or removes something.
  std::string path = {};         // If the step has a path.
  std::string to = {};           // The new path of a kRename.
  const File* file = nullptr;    // If the step uses an open file.
  absl::string_view bytes = {};  // Of a kWrite.
};

// All disk operations, reads included, so that a test can make each of them fail, and the process
// die before, within or after it. Errors are StorageFailed, and name the path. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;

  // A file or folder at a path.
  struct Entry {
    bool is_folder = false;
    int64_t size = 0;  // Bytes.
  };
  // Nullopt if nothing is there.
  absl::StatusOr<std::optional<Entry>> Look(const std::string& path);
  // The names in a folder, in no particular order.
  absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder);
  // The contents of a file. NOT_FOUND if there is none, OUT_OF_RANGE if it has more than
  // `max_bytes`.
  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes);
  // Reads up to `size` bytes from `offset` on; returns how many there were, 0 at the end.
  absl::StatusOr<size_t> ReadAt(const File& file, int64_t offset, char* bytes, size_t size);
  absl::StatusOr<int64_t> SizeOf(const File& file);

  // Opens `path` for reading and appending; `create`: creates it if it is missing.
  absl::StatusOr<File> OpenForAppend(const std::string& path, bool create);
  // Creates `path`, or empties it.
  absl::StatusOr<File> OpenEmpty(const std::string& path);
  // Writes all of `bytes` at the file's end.
  absl::Status Write(const File& file, absl::string_view bytes);
  // On return, everything written to the file survives a crash of the machine.
  absl::Status Sync(const File& file);
  absl::Status Truncate(const File& file, int64_t size);
  absl::Status Rename(const std::string& from, const std::string& to);
  // On return, everything created, renamed or removed in the folder survives a crash of the
  // machine.
  absl::Status SyncFolder(const std::string& path);
  absl::Status MakeFolder(const std::string& path);
  // Harmless if there is no such file.
  absl::Status RemoveFile(const std::string& path);
  absl::Status RemoveFolder(const std::string& path);

  // Replaces the contents of `folder`/`name` atomically and durably: writes and syncs a temporary
  // file, renames it, and syncs the folder.
  absl::Status ReplaceFile(const std::string& folder, const std::string& name,
                           absl::string_view contents);

 protected:
  // Executes a step by calling `whole`. Every step passes through here.
  virtual absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);
};

// StorageFailed with the current errno.
absl::Status DiskError(absl::string_view what, absl::string_view path);

}  // namespace callslip::tracker
