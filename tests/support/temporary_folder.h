#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace callslip {

// A folder that is removed with its owner. It is in memory if possible, since no test depends on
// how long a disk takes for a sync.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool has_memory = std::filesystem::exists("/dev/shm");
    path_ = has_memory ? "/dev/shm/callslip-XXXXXX"
                       : std::filesystem::temp_directory_path().string() + "/callslip-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace callslip
