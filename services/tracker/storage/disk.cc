#include "tracker/storage/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

// What people say to an agent is nobody else's business.
constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

}  // namespace

absl::StatusOr<File> Disk::OpenForAppend(const std::string& path, bool create) {
  const int flags = O_RDWR | O_APPEND | O_CLOEXEC | (create ? O_CREAT : 0);
  const int descriptor = open(path.c_str(), flags, kFileMode);
  if (descriptor < 0) return DiskError("open", path);
  return File(descriptor);
}

absl::StatusOr<File> Disk::OpenEmpty(const std::string& path) {
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int descriptor = open(path.c_str(), flags, kFileMode);
  if (descriptor < 0) return DiskError("open", path);
  return File(descriptor);
}

absl::Status Disk::Write(const File& file, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return DiskError("write", "a file");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Disk::Sync(const File& file) {
  // Without the time of the last change, which nobody reads.
  if (fdatasync(file.descriptor()) != 0) return DiskError("sync", "a file");
  return absl::OkStatus();
}

absl::Status Disk::Truncate(const File& file, int64_t size) {
  if (ftruncate(file.descriptor(), size) != 0) return DiskError("truncate", "a file");
  return absl::OkStatus();
}

absl::Status Disk::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return DiskError("rename", from);
  return absl::OkStatus();
}

absl::Status Disk::SyncFolder(const std::string& path) {
  const File folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return DiskError("open", path);
  if (fsync(folder.descriptor()) != 0) return DiskError("sync", path);
  return absl::OkStatus();
}

absl::Status Disk::MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) != 0) return DiskError("make", path);
  return absl::OkStatus();
}

absl::Status Disk::RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return DiskError("remove", path);
  return absl::OkStatus();
}

absl::Status Disk::RemoveFolder(const std::string& path) {
  if (rmdir(path.c_str()) != 0 && errno != ENOENT) return DiskError("remove", path);
  return absl::OkStatus();
}

absl::Status Disk::ReplaceFile(const std::string& folder, const std::string& name,
                               absl::string_view contents) {
  const std::string path = absl::StrCat(folder, "/", name);
  // One name, so that a crash leaves one of them behind at most.
  const std::string temporary = path + ".tmp";
  {
    ASSIGN_OR_RETURN(const File file, OpenEmpty(temporary));
    RETURN_IF_ERROR(Write(file, contents));
    RETURN_IF_ERROR(Sync(file));
  }
  RETURN_IF_ERROR(Rename(temporary, path));
  return SyncFolder(folder);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return errno == ENOENT ? absl::NotFoundError(path) : DiskError("open", path);
  }
  std::string contents;
  char buffer[size_t{16} << 10];
  while (true) {
    const ssize_t got = read(file.descriptor(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DiskError("read", path);
    if (got == 0) return contents;
    contents.append(buffer, static_cast<size_t>(got));
    if (contents.size() > max_bytes) return StorageFailed(absl::StrCat(path, " is too long"));
  }
}

absl::Status DiskError(absl::string_view what, absl::string_view path) {
  const int error = errno;
  return StorageFailed(absl::StrCat("can't ", what, " ", path, ": ", std::strerror(error)));
}

}  // namespace callslip::tracker
