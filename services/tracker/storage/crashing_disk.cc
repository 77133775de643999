#include "tracker/storage/crashing_disk.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/file.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;

std::string PathOf(const File& file) {
  return fs::read_symlink(absl::StrCat("/proc/self/fd/", file.descriptor())).string();
}

int64_t SizeAt(const std::string& path) {
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

absl::Status CrashingDisk::Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) {
  if (step.kind == DiskStep::Kind::kRead) return whole();
  Within within = Within::kAfter;
  bool dies = false;
  {
    MutexLock lock(&mutex_);
    const int64_t number = steps_++;
    if (number > crash_at_) return StorageFailed("the process is dead");
    dies = number == crash_at_;
    if (dies) within = within_;
  }
  if (step.kind == DiskStep::Kind::kWrite) {
    const std::string path = PathOf(*step.file);
    MutexLock lock(&mutex_);
    // What existed before the first write is durable.
    synced_.try_emplace(path, SizeAt(path));
  }
  if (within == Within::kHalf && step.kind == DiskStep::Kind::kWrite) {
    WriteAll(*step.file, step.bytes.substr(0, step.bytes.size() / 2));
  }
  if (within == Within::kAfter) {
    absl::Status status = Note(step, whole);
    if (!dies) return status;
  }
  return StorageFailed("the process died");
}

absl::Status CrashingDisk::Note(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) {
  if (step.kind == DiskStep::Kind::kRename) return NoteRename(step, whole);
  const absl::Status status = whole();
  MutexLock lock(&mutex_);
  if (step.kind == DiskStep::Kind::kEmpty) synced_[step.path] = 0;
  if (step.kind == DiskStep::Kind::kSync) {
    const std::string path = PathOf(*step.file);
    synced_[path] = SizeAt(path);
  }
  // Also those of other folders: the tests use one folder at a time.
  if (step.kind == DiskStep::Kind::kSyncFolder) undo_.clear();
  return status;
}

absl::Status CrashingDisk::NoteRename(const DiskStep& step,
                                      absl::FunctionRef<absl::Status()> whole) {
  const std::string from = step.path;
  const std::string to = step.to;
  const bool is_folder = fs::is_directory(from);
  const bool replaces = fs::exists(to);
  const std::string old = replaces && !is_folder ? Contents(to) : "";
  const std::string moved = is_folder ? "" : Contents(from);
  const absl::Status status = whole();
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
}

void CrashingDisk::LosePower() {
  MutexLock lock(&mutex_);
  for (const auto& [path, size] : synced_) {
    if (SizeAt(path) > size) fs::resize_file(path, static_cast<uintmax_t>(size));
  }
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
}

}  // namespace callslip::tracker
