#include "tracker/domain/worker/worker_log.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

absl::Status CheckSeen(const std::string& kind, const std::vector<SeenByWorker>& seen) {
  if (kind.empty()) return InvalidField("kind", "is required");
  if (kind.size() > kMaxTypeBytes) {
    return InvalidField("kind", absl::StrCat("must have at most ", kMaxTypeBytes, " bytes"));
  }
  RETURN_IF_ERROR(CheckName("kind", kind));
  if (seen.size() > kMaxAppendedEntries) {
    return InvalidField("entries", absl::StrCat("must be at most ", kMaxAppendedEntries));
  }
  for (const SeenByWorker& each : seen) {
    if (each.entry->size() > kMaxLogEntryBytes) {
      return InvalidField("entries",
                          absl::StrCat("must have at most ", kMaxLogEntryBytes, " bytes each"));
    }
    RETURN_IF_ERROR(CheckName("places", each.place));
  }
  return absl::OkStatus();
}

bool Selects(const std::string& wanted, const std::string& name) {
  return wanted.empty() || wanted == name;
}

}  // namespace

WorkerLog::Worker& WorkerLog::FindLocked(const Key& key) {
  const auto it = workers_.find(key);
  if (it != workers_.end()) return it->second;
  if (workers_.size() >= limits_.workers) {
    workers_.erase(std::min_element(workers_.begin(), workers_.end(), [](auto& a, auto& b) {
      return a.second.last_sequence < b.second.last_sequence;
    }));
  }
  return workers_[key];
}

WorkerLog::Owner WorkerLog::OwnerLocked(const Key& key, const std::string& place) const {
  const auto claims = claims_.find(key);
  if (place.empty() || claims == claims_.end()) return nullptr;
  const auto& of_places = claims->second.of_places;
  const auto claim =
      absl::c_find_if(of_places, [&](const auto& each) { return each.first == place; });
  return claim == of_places.end() ? nullptr : claim->second;
}

absl::Status WorkerLog::Append(std::string target, std::string worker_id, const std::string& kind,
                               const std::string& sender, std::vector<SeenByWorker> seen,
                               absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheckWorker(target, worker_id));
  RETURN_IF_ERROR(CheckSeen(kind, seen));
  if (seen.empty()) return absl::OkStatus();
  const auto by_sender = std::make_shared<const std::string>(sender);
  const Key key(std::move(target), std::move(worker_id));
  MutexLock lock(&mutex_);
  Worker& worker = FindLocked(key);
  if (!worker.rings.contains(kind) && worker.rings.size() >= limits_.kinds_of_worker) {
    return InvalidField("kind", absl::StrCat("is one more than the ", limits_.kinds_of_worker,
                                             " kinds that a worker may have"));
  }
  Ring& ring = worker.rings[kind];
  for (SeenByWorker& each : seen) {
    ring.bytes += each.entry->size();
    Owner owner = OwnerLocked(key, each.place);
    if (owner == nullptr) owner = by_sender;
    ring.entries.push_back(
        {++last_sequence_, now, std::move(each.entry), std::move(each.place), std::move(owner)});
  }
  worker.last_sequence = last_sequence_;
  while (ring.entries.size() > limits_.entries_of_kind || ring.bytes > limits_.bytes_of_kind) {
    ring.bytes -= ring.entries.front().payload->size();
    ring.entries.pop_front();
  }
  return absl::OkStatus();
}

void WorkerLog::Claim(PlaceClaim claim) {
  if (claim.place.empty()) return;
  const auto owner = std::make_shared<const std::string>(std::move(claim.client_id));
  const Key key(std::move(claim.target), std::move(claim.worker_id));
  MutexLock lock(&mutex_);
  Claims& claims = claims_[key];
  claims.last = ++last_claim_;
  std::erase_if(claims.of_places, [&](const auto& each) { return each.first == claim.place; });
  if (claims.of_places.size() >= limits_.claims_of_worker) claims.of_places.pop_front();
  claims.of_places.emplace_back(claim.place, owner);
  if (claims_.size() > limits_.claiming_workers) {
    claims_.erase(std::min_element(claims_.begin(), claims_.end(),
                                   [](auto& a, auto& b) { return a.second.last < b.second.last; }));
  }
  const auto worker = workers_.find(key);
  if (worker == workers_.end()) return;
  for (auto& [kind, ring] : worker->second.rings) {
    for (auto entry = ring.entries.rbegin();
         entry != ring.entries.rend() && entry->time >= claim.delivered; ++entry) {
      if (entry->place == claim.place) entry->owner = owner;
    }
  }
}

int64_t WorkerLog::bytes() {
  size_t bytes = 0;
  MutexLock lock(&mutex_);
  for (const auto& [key, worker] : workers_) {
    for (const auto& [kind, ring] : worker.rings) bytes += ring.bytes;
  }
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<std::vector<WorkerLogEntry>> WorkerLog::List(const ClientScope& clients,
                                                            const WorkerLogFilter& filter,
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
      // At most as many from one ring as from all together.
      size_t left = limit;
      for (auto entry = ring.entries.rbegin(); entry != ring.entries.rend() && left > 0; ++entry) {
        if (!clients.Covers(*entry->owner)) continue;
        --left;
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
