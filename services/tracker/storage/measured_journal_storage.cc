#include "tracker/storage/measured_journal_storage.h"

namespace callslip::tracker {

absl::Status MeasuredJournalStorage::Append(uint64_t position,
                                            absl::Span<const JournalEntry> entries) {
  const absl::Time begun = clock_->Now();
  absl::Status appended = storage_->Append(position, entries);
  const absl::Time ended = clock_->Now();
  appends_.Observe(absl::ToInt64Nanoseconds(ended - begun));
  failing_ = !appended.ok();
  if (appended.ok()) {
    entries_ += static_cast<int64_t>(entries.size());
  } else {
    ++failures_;
    last_failure_nanos_ = absl::ToUnixNanos(ended);
  }
  return appended;
}

JournalStatistics MeasuredJournalStorage::Statistics() const {
  const int64_t failed = last_failure_nanos_;
  return {.appends = appends_.Read(),
          .entries = entries_,
          .failures = failures_,
          .last_failure = failed == 0 ? absl::InfinitePast() : absl::FromUnixNanos(failed),
          .failing = failing_};
}

}  // namespace callslip::tracker
