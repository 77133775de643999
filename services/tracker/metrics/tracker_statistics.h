#ifndef CALLSLIP_TRACKER_METRICS_TRACKER_STATISTICS_H_
#define CALLSLIP_TRACKER_METRICS_TRACKER_STATISTICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/domain/worker/worker_log.h"
#include "tracker/domain/worker/worker_registry.h"
#include "tracker/metrics/rpc_statistics.h"
#include "tracker/metrics/statistics_history.h"
#include "tracker/storage/measured_disk.h"
#include "tracker/storage/measured_journal_storage.h"

namespace callslip::tracker {

// How a tracker does at one moment: what both GET /metrics and AdminService tell.
struct TrackerStatistics {
  absl::Duration uptime;
  // Why it takes no commands, and what else wants an operator; see GetHealthResponse.
  std::vector<std::string> reasons;
  bool ready = true;

  CommandStatistics commands;
  absl::Duration oldest_queued;  // Zero where nothing waits for a worker.
  int64_t waits = 0;
  int64_t feed_bytes = 0;
  int64_t leased = 0;
  int64_t late_results = 0;
  int64_t payload_bytes = 0;
  WorkerCounts workers;
  int64_t worker_log_bytes = 0;
  int64_t sessions = 0;
  std::array<int64_t, kAgentStatusCount> agents = {};  // See SessionCatalog::AgentCounts().
  RunnerCounts runners;
  int64_t appended_events = 0;
  StorageStatistics storage;  // Of sessions.
  JournalStatistics journal;  // Of commands.
  DoorStatistics door;

  // Commands that ended without having been completed or cancelled.
  int64_t failed() const;
  // That their workers completed.
  int64_t completed() const;

 private:
  int64_t EndedIn(CommandState state) const;
};

// What of a tracker's storage is measured; null where nothing is.
struct MeasuredStorage {
  const MeasuredDisk* sessions = nullptr;
  const MeasuredJournalStorage* commands = nullptr;
};

// Where a tracker's statistics are read from. Thread-safe. All of it must outlive this.
class TrackerStatisticsSource {
 public:
  struct Parts {
    Clock* clock;
    CommandTable* commands;
    WorkerRegistry* workers;
    SessionTable* sessions = nullptr;  // May be null.
    WorkerLog* worker_log = nullptr;   // May be null.
    std::function<RunnerCounts()> runners;
    MeasuredStorage storage;
    std::function<DoorStatistics()> door;
  };

  explicit TrackerStatisticsSource(Parts parts)
      : parts_(std::move(parts)), started_(parts_.clock->Now()), history_(started_) {}

  // No commands are taken any more.
  void SetDraining() { draining_ = true; }
  // Whether the journal of commands is stored; until this is called it is.
  void SetStoring(bool storing) { storing_ = storing; }

  TrackerStatistics Read();

  // Adds a sample to the history: each StatisticsHistory::kEvery.
  void Note();
  const StatisticsHistory& history() const { return history_; }

 private:
  const Parts parts_;
  const absl::Time started_;
  StatisticsHistory history_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> storing_{true};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_METRICS_TRACKER_STATISTICS_H_
