#include "tracker/domain/worker/worker_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/worker/worker_names.h"

namespace callslip::tracker {
namespace {

absl::Status CheckEntries(const std::string& kind, const std::vector<Payload>& entries) {
  if (kind.empty()) return InvalidField("kind", "is required");
  if (kind.size() > kMaxTypeBytes) {
    return InvalidField("kind", absl::StrCat("must have at most ", kMaxTypeBytes, " bytes"));
  }
  RETURN_IF_ERROR(CheckName("kind", kind));
  if (entries.size() > kMaxAppendedEntries) {
    return InvalidField("entries", absl::StrCat("must be at most ", kMaxAppendedEntries));
  }
  for (const Payload& entry : entries) {
    if (entry->size() > kMaxLogEntryBytes) {
      return InvalidField("entries",
                          absl::StrCat("must have at most ", kMaxLogEntryBytes, " bytes each"));
    }
  }
  return absl::OkStatus();
}

bool Selects(const std::string& wanted, const std::string& name) {
  return wanted.empty() || wanted == name;
}

}  // namespace

WorkerLog::Worker& WorkerLog::FindLocked(Key key) {
  const auto it = workers_.find(key);
  if (it != workers_.end()) return it->second;
  if (workers_.size() >= limits_.workers) {
    workers_.erase(std::min_element(workers_.begin(), workers_.end(), [](auto& a, auto& b) {
      return a.second.last_sequence < b.second.last_sequence;
    }));
  }
  return workers_[std::move(key)];
}

absl::Status WorkerLog::Append(std::string target, std::string worker_id, const std::string& kind,
                               std::vector<Payload> entries, absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheckWorker(target, worker_id));
  RETURN_IF_ERROR(CheckEntries(kind, entries));
  if (entries.empty()) return absl::OkStatus();
  MutexLock lock(&mutex_);
  Worker& worker = FindLocked({std::move(target), std::move(worker_id)});
  if (!worker.rings.contains(kind) && worker.rings.size() >= limits_.kinds_of_worker) {
    return InvalidField("kind", absl::StrCat("is one more than the ", limits_.kinds_of_worker,
                                             " kinds that a worker may have"));
  }
  Ring& ring = worker.rings[kind];
  for (Payload& entry : entries) {
    ring.bytes += entry->size();
    ring.entries.push_back({++last_sequence_, now, std::move(entry)});
  }
  worker.last_sequence = last_sequence_;
  while (ring.entries.size() > limits_.entries_of_kind || ring.bytes > limits_.bytes_of_kind) {
    ring.bytes -= ring.entries.front().payload->size();
    ring.entries.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WorkerLogEntry>> WorkerLog::List(const WorkerLogFilter& filter,
                                                            int page_size) {
  if (page_size < 0) return InvalidField("page_size", "must not be negative");
  if (page_size == 0) page_size = kDefaultPageSize;
  const auto limit = static_cast<size_t>(std::min(page_size, kMaxPageSize));

  std::vector<WorkerLogEntry> listed;
  MutexLock lock(&mutex_);
  for (const auto& [key, worker] : workers_) {
    if (!Selects(filter.target, key.first) || !Selects(filter.worker_id, key.second)) continue;
    for (const auto& [kind, ring] : worker.rings) {
      if (!Selects(filter.kind, kind)) continue;
      // No more of a ring than there may be of all.
      const size_t skipped = ring.entries.size() - std::min(ring.entries.size(), limit);
      for (auto entry = ring.entries.begin() + skipped; entry != ring.entries.end(); ++entry) {
        listed.push_back(
            {entry->sequence, key.first, key.second, kind, entry->time, entry->payload});
      }
    }
  }
  std::sort(listed.begin(), listed.end(),
            [](const auto& a, const auto& b) { return a.sequence > b.sequence; });
  size_t bytes = 0;
  const auto end = std::find_if(listed.begin(), listed.end(), [&](const WorkerLogEntry& entry) {
    bytes += entry.entry->size();
    return bytes > kMaxListedBytes;
  });
  listed.resize(std::min<size_t>(end - listed.begin(), limit));
  return listed;
}

}  // namespace callslip::tracker
