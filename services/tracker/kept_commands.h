#ifndef CALLSLIP_TRACKER_KEPT_COMMANDS_H_
#define CALLSLIP_TRACKER_KEPT_COMMANDS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "tracker/command_committer.h"
#include "tracker/config.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/command/command_table.h"
#include "tracker/storage/measured_command_storage.h"

namespace callslip::tracker {

// What makes the commands of a table durable, and the drawings beside it, as --durability says: the
// journal that they fill, where that is kept, and the gate behind which answers wait. Outlives them
// and the server.
class KeptCommands {
 public:
  static absl::StatusOr<std::unique_ptr<KeptCommands>> Open(const TrackerConfig& config,
                                                            const std::string& folder,
                                                            Clock* clock);

  // Null where nothing is kept.
  CommandJournal* journal() { return storage_ == nullptr ? nullptr : &journal_; }
  OutputGate* gate() { return committer_.get(); }
  const MeasuredCommandStorage* storage() const { return storage_.get(); }

  // Before anybody else uses the table and the store.
  absl::Status Restore(CommandTable& table, AnnotationStore& annotations);
  // See CommandCommitter.
  void SetStorageListener(std::function<void(bool)> listener);

 private:
  explicit KeptCommands(Clock* clock) : clock_(clock) {}

  Clock* const clock_;
  std::unique_ptr<MeasuredCommandStorage> storage_;
  CommandJournal journal_;
  std::unique_ptr<CommandCommitter> committer_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_KEPT_COMMANDS_H_
