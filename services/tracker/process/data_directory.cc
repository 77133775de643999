#include "tracker/process/data_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace callslip::tracker {

absl::StatusOr<DataDirectory> DataDirectory::Open(const std::string& path) {
  if (!path.empty()) return DataDirectory(path, /*temporary=*/false);
  const char* const parent = std::getenv("TMPDIR");
  std::string made =
      absl::StrCat(parent == nullptr || *parent == 0 ? "/tmp" : parent, "/callslip-tracker-XXXXXX");
  if (mkdtemp(made.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make a temporary directory ", made, ": ",
                                               std::strerror(errno),
                                               ". Name a directory with --data-dir"));
  }
  return DataDirectory(std::move(made), /*temporary=*/true);
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}

DataDirectory::~DataDirectory() {
  if (!temporary_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace callslip::tracker
