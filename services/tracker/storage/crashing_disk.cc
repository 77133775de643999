#include "tracker/storage/crashing_disk.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;

std::string PathOf(const File& file) {
  return fs::read_symlink(absl::StrCat("/proc/self/fd/", file.descriptor())).string();
}

int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool CrashingDisk::crashed() {
  MutexLock lock(&mutex_);
  return steps_ > crash_at_;
}

absl::Status CrashingDisk::Step(const std::function<absl::Status()>& whole,
                                const std::function<void()>& half) {
  Within within = Within::kAfter;
  bool dies = false;
  {
    MutexLock lock(&mutex_);
    const int64_t step = steps_++;
    if (step > crash_at_) return StorageFailed("the process is dead");
    dies = step == crash_at_;
    if (dies) within = within_;
  }
  if (within == Within::kHalf) half();
  if (within == Within::kAfter) {
    absl::Status status = whole();
    if (!dies) return status;
  }
  return StorageFailed("the process died");
}

void CrashingDisk::LosePower() {
  MutexLock lock(&mutex_);
  for (const auto& [path, size] : synced_) {
    if (SizeOf(path) > size) fs::resize_file(path, static_cast<uintmax_t>(size));
  }
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
}

absl::StatusOr<File> CrashingDisk::OpenForAppend(const std::string& path, bool create) {
  absl::StatusOr<File> file;
  const absl::Status status = Step([&] {
    file = Disk::OpenForAppend(path, create);
    return file.status();
  });
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<File> CrashingDisk::OpenEmpty(const std::string& path) {
  absl::StatusOr<File> file;
  const absl::Status status = Step([&] {
    file = Disk::OpenEmpty(path);
    MutexLock lock(&mutex_);
    synced_[path] = 0;
    return file.status();
  });
  if (!status.ok()) return status;
  return file;
}

absl::Status CrashingDisk::Write(const File& file, absl::string_view bytes) {
  {
    const std::string path = PathOf(file);
    MutexLock lock(&mutex_);
    // What was there when we came is durable.
    if (steps_ <= crash_at_) synced_.try_emplace(path, SizeOf(path));
  }
  return Step([&] { return Disk::Write(file, bytes); },
              [&] { Disk::Write(file, bytes.substr(0, bytes.size() / 2)).IgnoreError(); });
}

absl::Status CrashingDisk::Sync(const File& file) {
  return Step([&] {
    const absl::Status status = Disk::Sync(file);
    const std::string path = PathOf(file);
    MutexLock lock(&mutex_);
    synced_[path] = SizeOf(path);
    return status;
  });
}

absl::Status CrashingDisk::Truncate(const File& file, int64_t size) {
  return Step([&] { return Disk::Truncate(file, size); });
}

absl::Status CrashingDisk::Rename(const std::string& from, const std::string& to) {
  return Step([&] {
    const bool is_folder = fs::is_directory(from);
    const bool replaces = fs::exists(to);
    const std::string old = replaces && !is_folder ? Contents(to) : "";
    const std::string moved = is_folder ? "" : Contents(from);
    const absl::Status status = Disk::Rename(from, to);
    MutexLock lock(&mutex_);
    synced_.erase(from);
    undo_.push_back([=] {
      if (is_folder) return fs::rename(to, from);
      std::ofstream(from, std::ios::binary) << moved;
      if (replaces) {
        std::ofstream(to, std::ios::binary) << old;
      } else {
        fs::remove(to);
      }
    });
    return status;
  });
}

absl::Status CrashingDisk::SyncFolder(const std::string& path) {
  return Step([&] {
    const absl::Status status = Disk::SyncFolder(path);
    MutexLock lock(&mutex_);
    // Of other folders too: the tests use one at a time.
    undo_.clear();
    return status;
  });
}

absl::Status CrashingDisk::MakeFolder(const std::string& path) {
  return Step([&] { return Disk::MakeFolder(path); });
}

absl::Status CrashingDisk::RemoveFile(const std::string& path) {
  return Step([&] { return Disk::RemoveFile(path); });
}

absl::Status CrashingDisk::RemoveFolder(const std::string& path) {
  return Step([&] { return Disk::RemoveFolder(path); });
}

}  // namespace callslip::tracker
