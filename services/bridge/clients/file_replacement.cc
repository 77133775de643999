#include "bridge/clients/file_replacement.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

// Accessible to the user alone, because such files may hold tokens.
constexpr mode_t kNewFile = 0600;
constexpr mode_t kNewFolder = 0700;
// The most copies made in one second.
constexpr int kMaxCopies = 100;

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

absl::Status WriteAll(int fd, absl::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemError("cannot write", path);
    content.remove_prefix(written);
  }
  return fsync(fd) == 0 ? absl::OkStatus() : SystemError("cannot write", path);
}

// Writes the new file, and gives it the owner and mode of `like`.
absl::Status Fill(int fd, const std::string& path, absl::string_view content,
                  const struct stat* like) {
  if (like != nullptr) {
    struct stat made = {};
    if (fstat(fd, &made) != 0) return SystemError("cannot look at", path);
    const bool is_same_owner = made.st_uid == like->st_uid && made.st_gid == like->st_gid;
    if (!is_same_owner && fchown(fd, like->st_uid, like->st_gid) != 0) {
      return SystemError("cannot keep the owner of", path);
    }
    if (fchmod(fd, like->st_mode & 07777) != 0) return SystemError("cannot keep the mode of", path);
  }
  return WriteAll(fd, content, path);
}

// Creates a copy next to the file, at an unused path.
absl::StatusOr<std::string> MakeCopy(const ReadFile& file, const struct stat& like,
                                     absl::Time now) {
  const std::string date = absl::FormatTime("%Y%m%d-%H%M%S", now, absl::LocalTimeZone());
  const std::string first = absl::StrCat(file.path, ".callslip-backup-", date);
  for (int i = 1; i <= kMaxCopies; ++i) {
    std::string path = i == 1 ? first : absl::StrCat(first, "-", i);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFile);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return SystemError("cannot make", path);
    const absl::Cleanup closer = [fd] { close(fd); };
    const absl::Status status = Fill(fd, path, file.content, &like);
    if (status.ok()) return path;
    unlink(path.c_str());
    return status;
  }
  return absl::ResourceExhaustedError(absl::StrCat("there are too many copies like ", first));
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string content;
  char part[1 << 16];
  for (;;) {
    const ssize_t size = read(fd, part, sizeof(part));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return SystemError("cannot read", path);
    if (size == 0) return content;
    content.append(part, size);
    if (content.size() > kMaxConfigurationBytes) {
      return absl::FailedPreconditionError(
          absl::StrCat("it has more than ", kMaxConfigurationBytes >> 20, " MiB"));
    }
  }
}

// The reason why an existing file must not be replaced; OK for a normal file.
absl::Status CheckKind(const struct stat& found) {
  if (!S_ISREG(found.st_mode)) return absl::FailedPreconditionError("it is not a regular file");
  // Checks the mode bits, because root can write everything.
  if ((found.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    return absl::FailedPreconditionError("it is write-protected");
  }
  if (found.st_nlink > 1) {
    return absl::FailedPreconditionError("it is one file under several names (hard links)");
  }
  return absl::OkStatus();
}

// Syncs the file's folder to disk, including changed names.
void SyncFolder(const std::string& path) {
  const int fd = open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

absl::Status MakeFolders(const fs::path& folder) {
  if (folder.empty() || mkdir(folder.c_str(), kNewFolder) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  if (errno != ENOENT) return SystemError("cannot make", folder);
  RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  return mkdir(folder.c_str(), kNewFolder) == 0 ? absl::OkStatus()
                                                : SystemError("cannot make", folder);
}

// Moves the file `temporary` to the path of `file`, if that is unchanged.
absl::Status PutInPlace(const std::string& temporary, const ReadFile& file) {
  if (!file.exists) {
    // Unlike rename(), link() does not replace a file created meanwhile.
    if (link(temporary.c_str(), file.path.c_str()) == 0) return absl::OkStatus();
    if (errno == EEXIST)
      return absl::AbortedError("another program created it meanwhile; try again");
    return SystemError("cannot make", file.path);
  }
  const absl::StatusOr<ReadFile> now = ReadForReplacement(file.path);
  if (!now.ok() || now->content != file.content) {
    return absl::AbortedError("another program changed it meanwhile; try again");
  }
  if (rename(temporary.c_str(), file.path.c_str()) != 0)
    return SystemError("cannot replace", file.path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReadFile> ReadForReplacement(const std::string& path) {
  std::error_code error;
  const bool is_there = fs::symlink_status(path, error).type() != fs::file_type::not_found;
  if (!is_there) return ReadFile{.path = path, .exists = false, .content = ""};
  const fs::path real = fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    return absl::FailedPreconditionError("it is a link to nothing");
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot find it: ", error.message()));
  // O_NONBLOCK, because opening a pipe would block.
  const int fd = open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SystemError("cannot open", real);
  const absl::Cleanup closer = [fd] { close(fd); };
  struct stat found = {};
  if (fstat(fd, &found) != 0) return SystemError("cannot look at", real);
  RETURN_IF_ERROR(CheckKind(found));
  ASSIGN_OR_RETURN(std::string content, ReadAll(fd, real));
  return ReadFile{.path = real, .exists = true, .content = std::move(content)};
}

absl::StatusOr<std::string> Replace(const ReadFile& file, absl::string_view content,
                                    absl::Time now) {
  struct stat like = {};
  std::string copy;
  if (file.exists) {
    if (stat(file.path.c_str(), &like) != 0) return SystemError("cannot look at", file.path);
    ASSIGN_OR_RETURN(copy, MakeCopy(file, like, now));
    SyncFolder(copy);
  } else {
    RETURN_IF_ERROR(MakeFolders(fs::path(file.path).parent_path()));
  }
  std::string temporary = file.path + ".callslip-XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return SystemError("cannot make", temporary);
  absl::Status status = Fill(fd, temporary, content, file.exists ? &like : nullptr);
  close(fd);
  if (status.ok()) status = PutInPlace(temporary, file);
  // Does nothing after a rename.
  unlink(temporary.c_str());
  if (!status.ok()) {
    // The copy is useless: the file is unchanged.
    if (!copy.empty()) unlink(copy.c_str());
    return status;
  }
  SyncFolder(file.path);
  return copy;
}

}  // namespace callslip::bridge
