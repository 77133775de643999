#pragma once

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

// A disk whose process dies at a given step: nothing changes after that. For tests. Thread-safe.
class CrashingDisk final : public Disk {
 public:
  enum class Within {
    kBefore,  // The step is not executed.
    kHalf,    // Half of a write is executed; other steps are not executed.
    kAfter,   // The step is executed, but not reported.
  };
  // `step` counts from 0.
  CrashingDisk(int64_t step, Within within) : crash_at_(step), within_(within) {}

  // Simulates a power failure in addition to the crash: undoes everything that no sync has made
  // durable. Must be called when the files are no longer in use.
  void LosePower();

  bool crashed();

 protected:
  // Reads do not count as steps here: a dead process does not report what it reads.
  absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) override;

 private:
  // Executes a step and records how to undo it after a power failure.
  absl::Status Note(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);
  absl::Status NoteRename(const DiskStep& step, absl::FunctionRef<absl::Status()> whole);

  const int64_t crash_at_;
  const Within within_;
  Mutex mutex_;
  int64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  // The durable size of each file, by path.
  std::map<std::string, int64_t> synced_ ABSL_GUARDED_BY(mutex_);
  // Undoes renames that no sync of their folder has made durable.
  std::vector<std::function<void()>> undo_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
