#include "common/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/random.h"
#include "common/status_macros.h"

namespace callslip {
namespace {

// The kernel gives up if something is renamed while it resolves a path with `..`.
constexpr int kMaxTries = 64;
// The maximum number of symbolic links to a file that is written.
constexpr int kMaxLinks = 8;

absl::Status Error(int error, absl::string_view path) {
  switch (error) {
    case EXDEV:
      return absl::PermissionDeniedError(absl::StrCat(path, " leads out of its directory"));
    case ELOOP:
      return absl::PermissionDeniedError(absl::StrCat(path, " has a symbolic link too many"));
    case ENOENT: return absl::NotFoundError(absl::StrCat(path, " is not there"));
    case ENOTDIR:
      return absl::FailedPreconditionError(
          absl::StrCat(path, " has a file where it needs a directory"));
    default: return absl::ErrnoToStatus(error, std::string(path));
  }
}

absl::Status NoFile(absl::string_view path, mode_t mode) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, S_ISDIR(mode) ? " is a directory" : " is not a regular file"));
}

// A descriptor (O_PATH) that only locates a file and opens nothing. -1 with errno on error.
int Locate(int root, absl::string_view path, uint64_t flags) {
  const std::string text(path);
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const long opened = syscall(SYS_openat2, root, text.c_str(), &how, sizeof(how));
    if (opened >= 0) return static_cast<int>(opened);
    if ((errno != EAGAIN && errno != EINTR) || tries == kMaxTries) return -1;
  }
}

// Splits a path into its folder and the name in it.
std::pair<std::string, std::string> Split(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return {".", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

absl::StatusOr<File> MakeFolder(int root, const std::string& path) {
  absl::StatusOr<File> folder = OpenFolderBeneath(root, path);
  if (!absl::IsNotFound(folder.status()) || path == ".") return folder;
  const auto [above, name] = Split(path);
  ASSIGN_OR_RETURN(const File parent, MakeFolder(root, above));
  if (mkdirat(parent.descriptor(), name.c_str(), 0777) != 0 && errno != EEXIST) {
    return Error(errno, path);
  }
  return OpenFolderBeneath(root, path);
}

// Writes the complete content under a temporary name, then renames it.
absl::Status Replace(const File& folder, const std::string& name, const struct stat* before,
                     absl::string_view path, absl::string_view content,
                     const std::atomic<bool>& is_wanted) {
  const std::string unfinished = absl::StrCat(".", RandomHex128(), ".callslip");
  const File file(openat(folder.descriptor(), unfinished.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.is_open()) return Error(errno, path);
  absl::Cleanup remove = [&] { unlinkat(folder.descriptor(), unfinished.c_str(), 0); };
  if (!WriteAll(file, content)) return Error(errno, path);
  // Keeps the mode except for the set-id bits, which a write also clears.
  if (before != nullptr && fchmod(file.descriptor(), before->st_mode & 0777) != 0) {
    return Error(errno, path);
  }
  if (!is_wanted) return absl::CancelledError(absl::StrCat(path, " is not to be written any more"));
  if (renameat(folder.descriptor(), unfinished.c_str(), folder.descriptor(), name.c_str()) != 0) {
    return Error(errno, path);
  }
  std::move(remove).Cancel();
  return absl::OkStatus();
}

// The target of the symbolic link `name` in `folder`; an error if the target is absolute.
absl::StatusOr<std::string> ReadLink(const File& folder, const std::string& above,
                                     const std::string& name, absl::string_view path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlinkat(folder.descriptor(), name.c_str(), target.data(), target.size());
  if (size < 0) return Error(errno, path);
  const absl::string_view text(target.data(), static_cast<size_t>(size));
  if (text.empty() || text.front() == '/') return Error(EXDEV, path);
  return absl::StrCat(above, "/", text);
}

}  // namespace

absl::StatusOr<File> OpenFolderBeneath(int root, absl::string_view path) {
  File folder(Locate(root, path, O_DIRECTORY));
  if (!folder.is_open()) return Error(errno, path);
  return folder;
}

absl::StatusOr<std::string> ReadBeneath(int root, absl::string_view path, size_t most) {
  const File place(Locate(root, path, 0));
  if (!place.is_open()) return Error(errno, path);
  struct stat about = {};
  if (fstat(place.descriptor(), &about) != 0) return Error(errno, path);
  if (!S_ISREG(about.st_mode)) return NoFile(path, about.st_mode);
  // The same file, even if another one has its name by now.
  const std::string same = absl::StrCat("/proc/self/fd/", place.descriptor());
  const File file(open(same.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) return Error(errno, path);
  std::string content;
  if (ReadAll(file, most, content)) return content;
  if (errno != EFBIG) return Error(errno, path);
  return absl::OutOfRangeError(absl::StrCat(path, " has more than ", most, " bytes"));
}

absl::Status WriteBeneath(int root, absl::string_view path, absl::string_view content,
                          const std::atomic<bool>& is_wanted) {
  std::string at(path);
  for (int links = 0; links <= kMaxLinks; ++links) {
    const auto [above, name] = Split(at);
    if (name.empty() || name == "." || name == "..") return NoFile(path, S_IFDIR);
    ASSIGN_OR_RETURN(const File folder,
                     links == 0 ? MakeFolder(root, above) : OpenFolderBeneath(root, above));
    struct stat before = {};
    if (fstatat(folder.descriptor(), name.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return Error(errno, path);
      if (links > 0) {
        return absl::FailedPreconditionError(
            absl::StrCat(path, " is a symbolic link that leads nowhere"));
      }
      return Replace(folder, name, nullptr, path, content, is_wanted);
    }
    if (S_ISREG(before.st_mode)) return Replace(folder, name, &before, path, content, is_wanted);
    if (!S_ISLNK(before.st_mode)) return NoFile(path, before.st_mode);
    ASSIGN_OR_RETURN(at, ReadLink(folder, above, name, path));
  }
  return Error(ELOOP, path);
}

}  // namespace callslip
