#ifndef CALLSLIP_TRACKER_STORAGE_CRASHING_DISK_H_
#define CALLSLIP_TRACKER_STORAGE_CRASHING_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// A disk under a process that dies at a given step: nothing is changed from there on. For tests.
// Thread-safe.
class CrashingDisk final : public Disk {
 public:
  enum class Within {
    kBefore,  // The step is not done.
    kHalf,    // A write is done by half; other steps are not done.
    kAfter,   // The step is done, and nobody hears of it.
  };
  // `step` counts from 0.
  CrashingDisk(int64_t step, Within within) : crash_at_(step), within_(within) {}

  // The machine lost its power, not just its process: undoes what no sync has made durable. To be
  // called once nothing uses the files any more.
  void LosePower();

  bool crashed();

  absl::StatusOr<File> OpenForAppend(const std::string& path, bool create) override;
  absl::StatusOr<File> OpenEmpty(const std::string& path) override;
  absl::Status Write(const File& file, absl::string_view bytes) override;
  absl::Status Sync(const File& file) override;
  absl::Status Truncate(const File& file, int64_t size) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status SyncFolder(const std::string& path) override;
  absl::Status MakeFolder(const std::string& path) override;
  absl::Status RemoveFile(const std::string& path) override;
  absl::Status RemoveFolder(const std::string& path) override;

 private:
  // Does the step, or what of it is done before the crash.
  absl::Status Step(
      const std::function<absl::Status()>& whole, const std::function<void()>& half = [] {});

  const int64_t crash_at_;
  const Within within_;
  Mutex mutex_;
  int64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  // How much of a file is durable, by its path.
  std::map<std::string, int64_t> synced_ ABSL_GUARDED_BY(mutex_);
  // How to undo renames that no sync of their folder has made durable.
  std::vector<std::function<void()>> undo_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_CRASHING_DISK_H_
