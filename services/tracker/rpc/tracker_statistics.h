#ifndef CALLSLIP_TRACKER_RPC_TRACKER_STATISTICS_H_
#define CALLSLIP_TRACKER_RPC_TRACKER_STATISTICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/domain/command/command_table.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/domain/worker/worker_log.h"
#include "tracker/domain/worker/worker_registry.h"
#include "tracker/rpc/authenticator.h"
#include "tracker/rpc/rpc_statistics.h"
#include "tracker/storage/measured_command_storage.h"
#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {

class AsyncServer;

// How a tracker does at one moment: what both GET /metrics and AdminService tell.
struct TrackerStatistics {
  absl::Duration uptime;
  // Why it takes no commands, and what else wants an operator; see GetHealthResponse.
  std::vector<std::string> reasons;
  bool ready = true;

  CommandStatistics commands;
  absl::Duration oldest_queued;  // Zero where nothing waits for a worker.
  int64_t waits = 0;
  int64_t leased = 0;
  int64_t late_results = 0;
  int64_t payload_bytes = 0;
  WorkerCounts workers;
  int64_t worker_log_bytes = 0;
  int64_t sessions = 0;
  int64_t appended_events = 0;
  StorageStatistics storage;  // Of sessions.
  JournalStatistics journal;  // Of commands.
  std::vector<RpcStatistics> rpcs;
  // Calls that were refused at the door, by Refusal.
  std::array<int64_t, kRefusalCount> refused{};

  // Commands that ended without having been completed or cancelled.
  int64_t failed() const;
};

// What of a tracker's storage is measured; null where nothing is.
struct MeasuredStorage {
  const MeasuredDisk* sessions = nullptr;
  const MeasuredCommandStorage* commands = nullptr;
};

// Where a tracker's statistics are read from. Thread-safe. All of it must outlive this.
class TrackerStatisticsSource {
 public:
  struct Parts {
    Clock* clock;
    CommandTable* commands;
    WorkerRegistry* workers;
    AsyncServer* server;
    SessionTable* sessions = nullptr;  // May be null.
    WorkerLog* worker_log = nullptr;   // May be null.
    MeasuredStorage storage;
    const std::optional<Authenticator>* authenticator = nullptr;  // May be null.
  };

  explicit TrackerStatisticsSource(const Parts& parts)
      : parts_(parts), started_(parts.clock->Now()) {}

  // No commands are taken any more.
  void SetDraining() { draining_ = true; }

  TrackerStatistics Read();

 private:
  const Parts parts_;
  const absl::Time started_;
  std::atomic<bool> draining_{false};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_TRACKER_STATISTICS_H_
