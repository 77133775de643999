#include "bridge/service/autostart_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace callslip::bridge {

absl::StatusOr<int> OpenAndLock(const std::string& path, int operation) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  while (flock(fd, operation) != 0) {
    if (errno == EINTR) continue;
    const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
    close(fd);
    return status;
  }
  return fd;
}

bool IsAt(int fd, const std::string& path) {
  struct stat open_one = {};
  struct stat found = {};
  return fstat(fd, &open_one) == 0 && lstat(path.c_str(), &found) == 0 &&
         open_one.st_dev == found.st_dev && open_one.st_ino == found.st_ino;
}

void Touch(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  }
}

void BoundLog(const std::string& path, size_t max_bytes) {
  const int log = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (log < 0) return;
  const off_t size = lseek(log, 0, SEEK_END);
  if (size > static_cast<off_t>(max_bytes)) {
    const int old = open(absl::StrCat(path, ".old").c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    off_t from = size - static_cast<off_t>(max_bytes);
    while (old >= 0 && from < size && sendfile(old, log, &from, size - from) > 0) {
    }
    if (old >= 0) close(old);
    // In any case, so that the disk does not fill up. The log's writers append.
    if (ftruncate(log, 0) != 0) unlink(path.c_str());
  }
  close(log);
}

}  // namespace callslip::bridge
