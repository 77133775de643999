#ifndef CALLSLIP_TRACKER_PROCESS_DATA_DIRECTORY_H_
#define CALLSLIP_TRACKER_PROCESS_DATA_DIRECTORY_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace callslip::tracker {

// Where the tracker keeps what is to survive it: the directory that it was given, or a temporary
// one of its own, which goes with this.
class DataDirectory {
 public:
  // Empty: a temporary one, in $TMPDIR or /tmp. UNAVAILABLE where that can't be made.
  static absl::StatusOr<DataDirectory> Open(const std::string& path);

  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }
  bool is_temporary() const { return temporary_; }

 private:
  DataDirectory(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}

  std::string path_;
  bool temporary_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_DATA_DIRECTORY_H_
