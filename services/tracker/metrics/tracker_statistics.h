#pragma once

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

// The state of a tracker at one moment, for GET /metrics and AdminService.
struct TrackerStatistics {
  absl::Duration uptime;
  // Why it accepts no commands, and other conditions that need an operator; see GetHealthResponse.
  std::vector<std::string> reasons;
  bool ready = true;

  CommandStatistics commands;
  absl::Duration oldest_queued;  // Zero if nothing waits for a worker.
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
  AdmissionStatistics admission;

  // Commands that ended and were neither completed nor cancelled.
  int64_t failed() const;
};

// The measured parts of a tracker's storage; null if not measured.
struct MeasuredStorage {
  const MeasuredDisk* sessions = nullptr;
  const MeasuredJournalStorage* commands = nullptr;
};

// Collects a tracker's statistics. Thread-safe. All parts must outlive this.
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
    std::function<AdmissionStatistics()> admission;
  };

  explicit TrackerStatisticsSource(Parts parts)
      : parts_(std::move(parts)), started_(parts_.clock->Now()), history_(started_) {}

  // No commands are accepted anymore.
  void SetDraining() { draining_ = true; }
  // Whether the journal of commands can be stored; true by default.
  void SetStoring(bool storing) { storing_ = storing; }

  TrackerStatistics Read();

  // Adds a sample to the history. Must be called every StatisticsHistory::kEvery.
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
