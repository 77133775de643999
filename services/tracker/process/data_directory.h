#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace callslip::tracker {

// The directory of the tracker's persistent data: the configured one, or a temporary one, which is
// removed with this.
class DataDirectory {
 public:
  // Empty: a temporary one, in $TMPDIR or /tmp. UNAVAILABLE if it cannot be created.
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
