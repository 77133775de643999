#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "common/file.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// A disk with steps that fail, including reads, while the process continues. A failing write writes
// one half. For tests. Thread-safe.
class FailingDisk final : public Disk {
 public:
  // From now on, `ok` steps succeed and the next `count` steps fail.
  void Fail(int64_t ok, int64_t count = 1) {
    MutexLock lock(&mutex_);
    first_ = steps_ + ok;
    end_ = first_ + count;
  }
  // The number of steps, and of those that failed.
  int64_t steps() {
    MutexLock lock(&mutex_);
    return steps_;
  }
  int64_t failures() {
    MutexLock lock(&mutex_);
    return failures_;
  }

 protected:
  absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) override {
    int64_t number = 0;
    {
      MutexLock lock(&mutex_);
      number = steps_++;
      if (number >= first_ && number < end_) {
        ++failures_;
      } else {
        number = -1;
      }
    }
    if (number < 0) return whole();
    if (step.kind == DiskStep::Kind::kWrite) {
      WriteAll(*step.file, step.bytes.substr(0, step.bytes.size() / 2));
    }
    return StorageFailed(absl::StrCat("step ", number, " is one that fails"));
  }

 private:
  Mutex mutex_;
  int64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t first_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t end_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker
