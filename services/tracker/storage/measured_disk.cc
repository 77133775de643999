#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {

absl::Status MeasuredDisk::Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) {
  const bool syncs = step.kind == DiskStep::Kind::kSync || step.kind == DiskStep::Kind::kSyncFolder;
  const absl::Time begun = syncs ? clock_->Now() : absl::Time();
  absl::Status status = whole();
  if (syncs) syncs_.Observe(absl::ToInt64Nanoseconds(clock_->Now() - begun));
  if (status.ok()) {
    written_bytes_ += static_cast<int64_t>(step.bytes.size());
  } else if (absl::IsUnavailable(status)) {  // Not for a missing file.
    ++failures_;
    last_failure_nanos_ = absl::ToUnixNanos(clock_->Now());
  }
  return status;
}

StorageStatistics MeasuredDisk::Statistics() const {
  const int64_t failed = last_failure_nanos_;
  return {.written_bytes = written_bytes_,
          .syncs = syncs_.Read(),
          .failures = failures_,
          .last_failure = failed == 0 ? absl::InfinitePast() : absl::FromUnixNanos(failed)};
}

}  // namespace callslip::tracker
