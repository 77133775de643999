#include "tracker/metrics/tracker_statistics.h"

#include <algorithm>

namespace callslip::tracker {
namespace {

// Visible to operators or probes that check once a minute.
constexpr absl::Duration kFailureIsRecent = absl::Minutes(1);

}  // namespace

int64_t TrackerStatistics::failed() const {
  return commands.EndedAs(CommandState::kFailed) + commands.EndedAs(CommandState::kTimedOut) +
         commands.EndedAs(CommandState::kExpired);
}

TrackerStatistics TrackerStatisticsSource::Read() {
  const absl::Time now = parts_.clock->Now();
  TrackerStatistics read;
  read.uptime = now - started_;
  read.commands = parts_.commands->Statistics();
  if (const int64_t oldest = read.commands.oldest_queued_nanos; oldest != 0) {
    read.oldest_queued = std::max(now - absl::FromUnixNanos(oldest), absl::ZeroDuration());
  }
  read.waits = parts_.commands->waits();
  read.feed_bytes = parts_.commands->feed_bytes();
  read.leased = parts_.commands->leased();
  read.late_results = parts_.commands->late_results();
  read.payload_bytes = parts_.commands->payload_bytes();
  read.workers = parts_.workers->Count(parts_.commands->Activities(""), now);
  if (parts_.worker_log != nullptr) read.worker_log_bytes = parts_.worker_log->bytes();
  if (parts_.sessions != nullptr) {
    read.sessions = static_cast<int64_t>(parts_.sessions->sessions());
    read.agents = parts_.sessions->AgentCounts();
    read.appended_events = parts_.sessions->appended_events();
  }
  read.runners = parts_.runners();
  const auto& [sessions_disk, journal] = parts_.storage;
  if (sessions_disk != nullptr) read.storage = sessions_disk->Statistics();
  if (journal != nullptr) read.journal = journal->Statistics();
  read.admission = parts_.admission();

  // A storage that hangs has not failed any operation yet.
  const bool storing = storing_ && !read.journal.failing;
  read.ready = !draining_ && storing;
  if (draining_) read.reasons.emplace_back("draining");
  const absl::Time last_failure = std::max(read.storage.last_failure, read.journal.last_failure);
  if (!storing || now - last_failure < kFailureIsRecent) {
    read.reasons.emplace_back("storage_failed");
  }
  return read;
}

void TrackerStatisticsSource::Note() {
  StatisticsHistory::Sessions sessions;
  if (parts_.sessions != nullptr) {
    sessions.active = parts_.sessions->active_sessions();
    const auto agents = parts_.sessions->AgentCounts();
    for (const AgentStatus in_turn : {AgentStatus::kPrompting, AgentStatus::kNeedsPermission}) {
      sessions.in_turn += agents[static_cast<size_t>(in_turn)];
    }
  }
  history_.Note(parts_.clock->Now(), parts_.commands->Statistics(), sessions);
}

}  // namespace callslip::tracker
