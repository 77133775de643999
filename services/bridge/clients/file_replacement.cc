#include "bridge/clients/file_replacement.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/file.h"
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

// Writes the new file, and gives it the owner and mode of `like`.
absl::Status Fill(const File& file, const std::string& path, absl::string_view content,
                  const struct stat* like) {
  if (like != nullptr) {
    struct stat made = {};
    if (fstat(file.descriptor(), &made) != 0) return SystemError("cannot look at", path);
    const bool is_same_owner = made.st_uid == like->st_uid && made.st_gid == like->st_gid;
    if (!is_same_owner && fchown(file.descriptor(), like->st_uid, like->st_gid) != 0) {
      return SystemError("cannot keep the owner of", path);
    }
    if (fchmod(file.descriptor(), like->st_mode & 07777) != 0) {
      return SystemError("cannot keep the mode of", path);
    }
  }
  const bool is_stored = WriteAll(file, content) && fsync(file.descriptor()) == 0;
  return is_stored ? absl::OkStatus() : SystemError("cannot write", path);
}

// Creates a copy next to the file, at an unused path.
absl::StatusOr<std::string> MakeCopy(const ReadFile& file, const struct stat& like,
                                     absl::Time now) {
  const std::string date = absl::FormatTime("%Y%m%d-%H%M%S", now, absl::LocalTimeZone());
  const std::string first = absl::StrCat(file.path, ".callslip-backup-", date);
  for (int i = 1; i <= kMaxCopies; ++i) {
    std::string path = i == 1 ? first : absl::StrCat(first, "-", i);
    const File copy(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFile));
    if (!copy.is_open() && errno == EEXIST) continue;
    if (!copy.is_open()) return SystemError("cannot make", path);
    const absl::Status status = Fill(copy, path, file.content, &like);
    if (status.ok()) return path;
    unlink(path.c_str());
    return status;
  }
  return absl::ResourceExhaustedError(absl::StrCat("there are too many copies like ", first));
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
  const File folder(open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) fsync(folder.descriptor());
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
  const File file(open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return SystemError("cannot open", real);
  struct stat found = {};
  if (fstat(file.descriptor(), &found) != 0) return SystemError("cannot look at", real);
  RETURN_IF_ERROR(CheckKind(found));
  ReadFile read{.path = real, .exists = true};
  if (ReadAll(file, kMaxConfigurationBytes, read.content)) return read;
  if (errno != EFBIG) return SystemError("cannot read", real);
  return absl::FailedPreconditionError(
      absl::StrCat("it has more than ", kMaxConfigurationBytes >> 20, " MiB"));
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
  File made(mkostemp(temporary.data(), O_CLOEXEC));
  if (!made.is_open()) return SystemError("cannot make", temporary);
  absl::Status status = Fill(made, temporary, content, file.exists ? &like : nullptr);
  made.Close();
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
