#pragma once

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

// Exit status that requests a restart; see sysexits.h.
inline constexpr int kTryAgain = 75;

// A name that no other process has.
std::string NameOfProcess();

// The configured storage of a tracker: a directory, or a cell in a database. Must outlive
// everything that uses it.
class Storage {
 public:
  // With --storage this returns once this tracker owns the cell, however long that takes. Null if a
  // shutdown was requested before that.
  static absl::StatusOr<std::unique_ptr<Storage>> Open(const TrackerConfig& config, Clock* clock,
                                                       const ShutdownSignal& shutdown);

  SessionStorage* sessions() const { return sessions_.get(); }
  DurableJournal& journal() const { return *journal_; }
  const MeasuredDisk* disk() const { return &disk_; }
  // The gate for everything that leaves the server; null: none.
  OutputGate* gate();
  // The same for outputs that do not wait for commands to be stored.
  OutputGate* free_gate() { return free_gate_.has_value() ? &*free_gate_ : nullptr; }

  // Null if nothing is shared.
  const Membership* membership() const { return membership_.get(); }

  // Waits until this tracker can answer. False if a shutdown was requested before that.
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
