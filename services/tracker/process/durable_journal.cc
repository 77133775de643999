#include "tracker/process/durable_journal.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "tracker/storage/logged_journal_storage.h"

namespace callslip::tracker {

std::unique_ptr<DurableJournal> DurableJournal::Over(std::unique_ptr<JournalStorage> storage,
                                                     JournalCommitter::Where where, Clock* clock) {
  std::unique_ptr<DurableJournal> kept(new DurableJournal(clock));
  if (storage == nullptr) return kept;
  kept->storage_ = std::make_unique<MeasuredJournalStorage>(clock, std::move(storage));
  kept->committer_ =
      std::make_unique<JournalCommitter>(clock, &kept->journal_, kept->storage_.get(), where);
  return kept;
}

absl::StatusOr<std::unique_ptr<DurableJournal>> DurableJournal::Open(const TrackerConfig& config,
                                                                     const std::string& folder,
                                                                     Clock* clock) {
  using Sync = LoggedJournalStorage::Sync;
  using Where = JournalCommitter::Where;
  if (config.durability == "memory") return Over(nullptr, Where::kOnCaller, clock);
  const bool strict = config.durability == "strict";
  ASSIGN_OR_RETURN(auto storage,
                   LoggedJournalStorage::Open(folder, strict ? Sync::kAlways : Sync::kNever));
  return Over(std::move(storage), strict ? Where::kOnThread : Where::kOnCaller, clock);
}

absl::Status DurableJournal::Restore(CommandTable& table, AnnotationStore& annotations) {
  if (storage_ == nullptr) return absl::OkStatus();
  const absl::Time begin = clock_->Now();
  std::vector<JournalEntry> of_drawings;
  RETURN_IF_ERROR(table.Restore(
      *storage_, begin, [&](JournalEntry entry) { of_drawings.push_back(std::move(entry)); }));
  annotations.Restore(std::move(of_drawings), begin);
  Log(LogLevel::kInfo, "commands are back",
      {{"commands", absl::StrCat(table.commands())},
       {"drawings", absl::StrCat(annotations.drawings())},
       {"after", absl::FormatDuration(clock_->Now() - begin)}});
  return absl::OkStatus();
}

void DurableJournal::SetStorageListener(std::function<void(bool)> listener) {
  if (committer_ != nullptr) committer_->SetStorageListener(std::move(listener));
}

}  // namespace callslip::tracker
