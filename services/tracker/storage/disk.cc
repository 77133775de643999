#include "tracker/storage/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

using Kind = DiskStep::Kind;

// The conversations with an agent are private to the owner.
constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

absl::Status Open(const std::string& path, int flags, File& file) {
  file = File(open(path.c_str(), flags | O_CLOEXEC, kFileMode));
  return file.is_open() ? absl::OkStatus() : DiskError("open", path);
}

}  // namespace

absl::Status Disk::Do(const DiskStep&, absl::FunctionRef<absl::Status()> whole) { return whole(); }

absl::StatusOr<std::optional<Disk::Entry>> Disk::Look(const std::string& path) {
  std::optional<Entry> entry;
  RETURN_IF_ERROR(Do({Kind::kRead, path}, [&] {
    struct stat stat {};
    if (::stat(path.c_str(), &stat) != 0) {
      return errno == ENOENT ? absl::OkStatus() : DiskError("look at", path);
    }
    entry = {.is_folder = S_ISDIR(stat.st_mode), .size = stat.st_size};
    return absl::OkStatus();
  }));
  return entry;
}

absl::StatusOr<std::vector<std::string>> Disk::NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(Do({Kind::kRead, folder}, [&] {
    std::error_code error;
    std::filesystem::directory_iterator entries(folder, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      names.push_back(entries->path().filename().string());
    }
    return error ? StorageFailed(absl::StrCat("can't read ", folder, ": ", error.message()))
                 : absl::OkStatus();
  }));
  return names;
}

absl::StatusOr<std::string> Disk::ReadFile(const std::string& path, size_t max_bytes) {
  std::string contents;
  RETURN_IF_ERROR(Do({Kind::kRead, path}, [&] {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
      return errno == ENOENT ? absl::NotFoundError(path) : DiskError("open", path);
    }
    if (ReadAll(file, max_bytes, contents)) return absl::OkStatus();
    if (errno != EFBIG) return DiskError("read", path);
    return absl::OutOfRangeError(absl::StrCat(path, " has more than ", max_bytes, " bytes"));
  }));
  return contents;
}

absl::StatusOr<size_t> Disk::ReadAt(const File& file, int64_t offset, char* bytes, size_t size) {
  ssize_t got = 0;
  RETURN_IF_ERROR(Do({.kind = Kind::kRead, .file = &file}, [&] {
    do {
      got = pread(file.descriptor(), bytes, size, offset);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? DiskError("read", "a file") : absl::OkStatus();
  }));
  return static_cast<size_t>(got);
}

absl::StatusOr<int64_t> Disk::SizeOf(const File& file) {
  struct stat stat {};
  RETURN_IF_ERROR(Do({.kind = Kind::kRead, .file = &file}, [&] {
    return fstat(file.descriptor(), &stat) == 0 ? absl::OkStatus() : DiskError("look at", "a file");
  }));
  return stat.st_size;
}

absl::StatusOr<File> Disk::OpenForAppend(const std::string& path, bool create) {
  File file;
  const int flags = O_RDWR | O_APPEND | (create ? O_CREAT : 0);
  RETURN_IF_ERROR(Do({Kind::kOpen, path}, [&] { return Open(path, flags, file); }));
  return file;
}

absl::StatusOr<File> Disk::OpenEmpty(const std::string& path) {
  File file;
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_TRUNC;
  RETURN_IF_ERROR(Do({Kind::kEmpty, path}, [&] { return Open(path, flags, file); }));
  return file;
}

absl::Status Disk::Write(const File& file, absl::string_view bytes) {
  return Do({.kind = Kind::kWrite, .file = &file, .bytes = bytes}, [&] {
    return WriteAll(file, bytes) ? absl::OkStatus() : DiskError("write", "a file");
  });
}

absl::Status Disk::Sync(const File& file) {
  return Do({.kind = Kind::kSync, .file = &file}, [&] {
    // Does not sync the modification time, which is not used.
    return fdatasync(file.descriptor()) == 0 ? absl::OkStatus() : DiskError("sync", "a file");
  });
}

absl::Status Disk::Truncate(const File& file, int64_t size) {
  return Do({.kind = Kind::kTruncate, .file = &file}, [&] {
    return ftruncate(file.descriptor(), size) == 0 ? absl::OkStatus()
                                                   : DiskError("truncate", "a file");
  });
}

absl::Status Disk::Rename(const std::string& from, const std::string& to) {
  return Do({Kind::kRename, from, to}, [&] {
    return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : DiskError("rename", from);
  });
}

absl::Status Disk::SyncFolder(const std::string& path) {
  return Do({Kind::kSyncFolder, path}, [&] {
    const File folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return DiskError("open", path);
    return fsync(folder.descriptor()) == 0 ? absl::OkStatus() : DiskError("sync", path);
  });
}

absl::Status Disk::MakeFolder(const std::string& path) {
  return Do({Kind::kOther, path}, [&] {
    return mkdir(path.c_str(), kFolderMode) == 0 ? absl::OkStatus() : DiskError("make", path);
  });
}

absl::Status Disk::RemoveFile(const std::string& path) {
  return Do({Kind::kOther, path}, [&] {
    const bool is_gone = unlink(path.c_str()) == 0 || errno == ENOENT;
    return is_gone ? absl::OkStatus() : DiskError("remove", path);
  });
}

absl::Status Disk::RemoveFolder(const std::string& path) {
  return Do({Kind::kOther, path}, [&] {
    const bool is_gone = rmdir(path.c_str()) == 0 || errno == ENOENT;
    return is_gone ? absl::OkStatus() : DiskError("remove", path);
  });
}

absl::Status Disk::ReplaceFile(const std::string& folder, const std::string& name,
                               absl::string_view contents) {
  const std::string path = absl::StrCat(folder, "/", name);
  // A single name, so that crashes leave at most one of them behind.
  const std::string temporary = path + ".tmp";
  {
    ASSIGN_OR_RETURN(const File file, OpenEmpty(temporary));
    RETURN_IF_ERROR(Write(file, contents));
    RETURN_IF_ERROR(Sync(file));
  }
  RETURN_IF_ERROR(Rename(temporary, path));
  return SyncFolder(folder);
}

absl::Status DiskError(absl::string_view what, absl::string_view path) {
  const int error = errno;
  return StorageFailed(absl::StrCat("can't ", what, " ", path, ": ", std::strerror(error)));
}

}  // namespace callslip::tracker
