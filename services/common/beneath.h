#ifndef CALLSLIP_COMMON_BENEATH_H_
#define CALLSLIP_COMMON_BENEATH_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Files beneath a folder that is open, by paths that cannot lead out of it whatever is swapped
// meanwhile. Errors name `path` and say what it is: NOT_FOUND; PERMISSION_DENIED where it leads
// out; FAILED_PRECONDITION where it is something else than asked for; whatever the system says.
namespace callslip {

// A descriptor, closed by whoever has it.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int get() const { return descriptor_; }
  // A path to it for processes that this one starts while it is open, whatever has its name by
  // then.
  std::string PathForOthers() const;

 private:
  int descriptor_;
};

// For use as the folder of other paths.
absl::StatusOr<OpenFile> OpenFolderBeneath(int root, absl::string_view path);

// The whole of a regular file. OUT_OF_RANGE where it has more than `most` bytes.
absl::StatusOr<std::string> ReadBeneath(int root, absl::string_view path, size_t most);

// Puts a file in the place of the one that is there, at once, with its mode; where there is none,
// makes it and the folders on the way to it. A symbolic link is written through, unless it leads
// nowhere. CANCELLED, and nothing is changed, where it is not `is_wanted` any more once its content
// is on the disk.
absl::Status WriteBeneath(int root, absl::string_view path, absl::string_view content,
                          const std::atomic<bool>& is_wanted);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_BENEATH_H_
