#ifndef CALLSLIP_TRACKER_STORAGE_DISK_H_
#define CALLSLIP_TRACKER_STORAGE_DISK_H_

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
#include "tracker/storage/file.h"

namespace callslip::tracker {

inline std::string JoinPath(absl::string_view folder, absl::string_view name) {
  return absl::StrCat(folder, "/", name);
}

// One step of the work with a disk, as those see it who count, time or fail steps.
struct DiskStep {
  enum class Kind { kRead, kOpen, kEmpty, kWrite, kSync, kTruncate, kRename, kSyncFolder, kOther };
  Kind kind;                     // kOther: makes or removes something.
  std::string path = {};         // Of what has one…
  std::string to = {};           // …and where it is renamed to.
  const File* file = nullptr;    // Of what works with an open file.
  absl::string_view bytes = {};  // Of a kWrite.
};

// Every step of the work with the disk, be it a change or a look, so that a test can let each of
// them fail, and the process die before, within or after it. Errors are StorageFailed, and name the
// path. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;

  // What lies at a path.
  struct Entry {
    bool is_folder = false;
    int64_t size = 0;  // Bytes.
  };
  // None where there is nothing.
  absl::StatusOr<std::optional<Entry>> Look(const std::string& path);
  // The names in a folder, in no order.
  absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder);
  // The contents of a file. NOT_FOUND where there is none, OUT_OF_RANGE where it has more than
  // `max_bytes`.
  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes);
  // Up to `size` bytes from `offset` on; returns how many there were, 0 at the end.
  absl::StatusOr<size_t> ReadAt(const File& file, int64_t offset, char* bytes, size_t size);
  absl::StatusOr<int64_t> SizeOf(const File& file);

  // Opens `path` for reading and appending; `create` makes it where it is missing.
  absl::StatusOr<File> OpenForAppend(const std::string& path, bool create);
  // Makes `path`, or empties it.
  absl::StatusOr<File> OpenEmpty(const std::string& path);
  // Writes all of `bytes` at the file's end.
  absl::Status Write(const File& file, absl::string_view bytes);
  // What was written survives the machine from here on.
  absl::Status Sync(const File& file);
  absl::Status Truncate(const File& file, int64_t size);
  absl::Status Rename(const std::string& from, const std::string& to);
  // What was made, renamed or removed in a folder survives the machine from here on.
  absl::Status SyncFolder(const std::string& path);
  absl::Status MakeFolder(const std::string& path);
  // Harmless where there is no such file.
  absl::Status RemoveFile(const std::string& path);
  absl::Status RemoveFolder(const std::string& path);

  // Replaces the contents of `folder`/`name`, whole or not at all, durably: by a temporary file,
  // its sync, its renaming and a sync of the folder.
  absl::Status ReplaceFile(const std::string& folder, const std::string& name,
                           absl::string_view contents);

 protected:
  // Does a step, which `whole` is. Every step comes by here.
  virtual absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);
  // Without coming by there.
  static absl::Status WriteAll(const File& file, absl::string_view bytes);
};

// StorageFailed with the present errno.
absl::Status DiskError(absl::string_view what, absl::string_view path);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_DISK_H_
