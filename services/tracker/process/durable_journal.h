#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/process/config.h"
#include "tracker/process/journal_committer.h"
#include "tracker/storage/measured_journal_storage.h"

namespace callslip::tracker {

// Makes the commands of a table and the drawings durable, according to --durability: their journal,
// its storage, and the gate at which answers wait. Must outlive the table, the drawings and the
// server.
class DurableJournal {
 public:
  // `storage` stores the journal; null: nothing is stored.
  static std::unique_ptr<DurableJournal> Over(std::unique_ptr<JournalStorage> storage,
                                              JournalCommitter::Where where, Clock* clock);
  // Opens the configured storage in `folder`.
  static absl::StatusOr<std::unique_ptr<DurableJournal>> Open(const TrackerConfig& config,
                                                              const std::string& folder,
                                                              Clock* clock);

  // Null if nothing is stored.
  Journal* journal() { return storage_ == nullptr ? nullptr : &journal_; }
  OutputGate* gate() { return committer_.get(); }
  const MeasuredJournalStorage* storage() const { return storage_.get(); }

  // Must be called before anything else uses the table and the store.
  absl::Status Restore(CommandTable& table, AnnotationStore& annotations);
  // See JournalCommitter.
  void SetStorageListener(std::function<void(bool)> listener);

 private:
  explicit DurableJournal(Clock* clock) : clock_(clock) {}

  Clock* const clock_;
  std::unique_ptr<MeasuredJournalStorage> storage_;
  Journal journal_;
  std::unique_ptr<JournalCommitter> committer_;
};

}  // namespace callslip::tracker
