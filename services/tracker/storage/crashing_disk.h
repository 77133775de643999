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

 protected:
  // Looks are no steps here: what a process that is dead sees nobody hears of.
  absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) override;

 private:
  // A step that is done, with what is to be undone should the machine lose its power.
  absl::Status Note(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);
  absl::Status NoteRename(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);

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
