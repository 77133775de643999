#ifndef CALLSLIP_TRACKER_PROCESS_STORAGE_H_
#define CALLSLIP_TRACKER_PROCESS_STORAGE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/shutdown_signal.h"
#include "tracker/cluster/membership.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/process/config.h"
#include "tracker/process/data_directory.h"
#include "tracker/process/durable_journal.h"
#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {

// Of a process that is to be started again; see sysexits.h.
inline constexpr int kTryAgain = 75;

// Of this process and no other.
std::string NameOfProcess();

// Where a tracker keeps what it is given, as its settings say: a directory, or a cell in a
// database. Outlives all that keeps anything there.
class Storage {
 public:
  // With --storage this returns once the cell is this tracker's, however long that takes. Null: it
  // was told to stop before.
  static absl::StatusOr<std::unique_ptr<Storage>> Open(const TrackerConfig& config, Clock* clock,
                                                       const ShutdownSignal& shutdown);

  SessionStorage* sessions() const { return sessions_.get(); }
  DurableJournal& journal() const { return *journal_; }
  const MeasuredDisk* disk() const { return &disk_; }
  // Where everything has to pass that leaves the server; null: nothing has to.
  OutputGate* gate();
  // The same for what does not wait for commands to be stored.
  OutputGate* free_gate() { return free_gate_.has_value() ? &*free_gate_ : nullptr; }

  // Null where nothing is shared.
  const Membership* membership() const { return membership_.get(); }

  // Waits until this tracker may answer. False: it was told to stop before.
  bool AwaitAnswers(const ShutdownSignal& shutdown) const;

 private:
  explicit Storage(Clock* clock) : disk_(clock) {}

  absl::Status OpenDirectory(const TrackerConfig& config, Clock* clock);
  absl::Status JoinCell(const TrackerConfig& config, Clock* clock, const ShutdownSignal& shutdown);

  MeasuredDisk disk_;
  std::optional<DataDirectory> directory_;
  std::unique_ptr<Membership> membership_;
  std::unique_ptr<SessionStorage> sessions_;
  std::unique_ptr<DurableJournal> journal_;
  std::optional<LeasedGate> gate_;
  std::optional<LeasedGate> free_gate_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_STORAGE_H_
