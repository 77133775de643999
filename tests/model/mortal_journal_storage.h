#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/status_macros.h"
#include "support/temporary_folder.h"
#include "tracker/storage/logged_journal_storage.h"

namespace callslip::tracker {

// A storage whose process can be killed at any moment. Test code only.
class MortalJournalStorage {
 public:
  using Sync = LoggedJournalStorage::Sync;

  // Replaces the open storage, if any, by a new one with the disk's content at this moment, as if
  // its process had been killed.
  absl::Status Restart() {
    auto disk = std::make_unique<TemporaryFolder>();
    if (storage_ != nullptr) {
      std::filesystem::copy(disk_->path(), disk->path(), std::filesystem::copy_options::recursive);
    }
    storage_ = nullptr;
    disk_ = std::move(disk);
    ASSIGN_OR_RETURN(storage_, LoggedJournalStorage::Open(disk_->path(), Sync::kNever));
    return absl::OkStatus();
  }

  std::string path() const { return disk_->path(); }
  LoggedJournalStorage& operator*() const { return *storage_; }
  LoggedJournalStorage* operator->() const { return storage_.get(); }

 private:
  std::unique_ptr<TemporaryFolder> disk_;
  std::unique_ptr<LoggedJournalStorage> storage_;
};

}  // namespace callslip::tracker
