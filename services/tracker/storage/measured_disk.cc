#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {

absl::StatusOr<File> MeasuredDisk::OpenForAppend(const std::string& path, bool create) {
  return Noted(Disk::OpenForAppend(path, create));
}

absl::StatusOr<File> MeasuredDisk::OpenEmpty(const std::string& path) {
  return Noted(Disk::OpenEmpty(path));
}

absl::Status MeasuredDisk::Write(const File& file, absl::string_view bytes) {
  absl::Status written = Noted(Disk::Write(file, bytes));
  if (written.ok()) written_bytes_ += static_cast<int64_t>(bytes.size());
  return written;
}

absl::Status MeasuredDisk::Sync(const File& file) {
  const absl::Time begun = clock_->Now();
  absl::Status synced = Noted(Disk::Sync(file));
  ObserveSync(begun);
  return synced;
}

absl::Status MeasuredDisk::Truncate(const File& file, int64_t size) {
  return Noted(Disk::Truncate(file, size));
}

absl::Status MeasuredDisk::Rename(const std::string& from, const std::string& to) {
  return Noted(Disk::Rename(from, to));
}

absl::Status MeasuredDisk::SyncFolder(const std::string& path) {
  const absl::Time begun = clock_->Now();
  absl::Status synced = Noted(Disk::SyncFolder(path));
  ObserveSync(begun);
  return synced;
}

absl::Status MeasuredDisk::MakeFolder(const std::string& path) {
  return Noted(Disk::MakeFolder(path));
}

absl::Status MeasuredDisk::RemoveFile(const std::string& path) {
  return Noted(Disk::RemoveFile(path));
}

absl::Status MeasuredDisk::RemoveFolder(const std::string& path) {
  return Noted(Disk::RemoveFolder(path));
}

StorageStatistics MeasuredDisk::Statistics() const {
  const int64_t failed = last_failure_nanos_;
  return {.written_bytes = written_bytes_,
          .syncs = syncs_.Read(),
          .failures = failures_,
          .last_failure = failed == 0 ? absl::InfinitePast() : absl::FromUnixNanos(failed)};
}

absl::Status MeasuredDisk::Noted(absl::Status status) {
  if (!status.ok()) {
    ++failures_;
    last_failure_nanos_ = absl::ToUnixNanos(clock_->Now());
  }
  return status;
}

absl::StatusOr<File> MeasuredDisk::Noted(absl::StatusOr<File> file) {
  (void)Noted(file.status());
  return file;
}

void MeasuredDisk::ObserveSync(absl::Time begun) {
  syncs_.Observe(absl::ToInt64Nanoseconds(clock_->Now() - begun));
}

}  // namespace callslip::tracker
