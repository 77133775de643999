#include "tracker/domain/worker/worker_registry.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/worker/worker_limits.h"

namespace callslip::tracker {
namespace {

// A page token is target and id of the previous page's last worker. Neither has line breaks.
std::string TokenAfter(const std::pair<std::string, std::string>& key) {
  return absl::StrCat(key.first, "\n", key.second);
}

// The key after which the page starts; without a token, one before every key.
absl::StatusOr<std::pair<std::string, std::string>> KeyBefore(const std::string& page_token) {
  const std::vector<std::string> parts = absl::StrSplit(page_token, '\n');
  if (page_token.empty()) return std::pair<std::string, std::string>();
  if (parts.size() != 2) return InvalidPageToken();
  return std::pair(parts[0], parts[1]);
}

absl::Status CheckAndCut(WorkerReport& report) {
  for (std::string* text : {&report.name, &report.version, &report.browser}) {
    Cut(*text, kMaxWorkerTextBytes);
  }
  const size_t bytes = report.bytes();
  if (bytes <= kMaxTabsBytes) return absl::OkStatus();
  return InvalidField(
      "tabs", absl::StrCat("has ", bytes, " bytes, at most ", kMaxTabsBytes, " are accepted"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<WorkerPresence>> WorkerRegistry::Seen(std::string target,
                                                                     std::string worker_id,
                                                                     absl::Time now,
                                                                     const WorkerTeller& teller) {
  RETURN_IF_ERROR(CompleteAndCheckWorker(target, worker_id));
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const Record* record,
                   FindLocked({std::move(target), std::move(worker_id)}, now, teller));
  return record->presence(teller.takes);
}

absl::Status WorkerRegistry::Report(std::string target, std::string worker_id, WorkerReport report,
                                    absl::Time now, const WorkerTeller& teller) {
  RETURN_IF_ERROR(CompleteAndCheckWorker(target, worker_id));
  RETURN_IF_ERROR(CheckAndCut(report));
  auto shared = std::make_shared<const WorkerReport>(std::move(report));
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(Record * record,
                   FindLocked({std::move(target), std::move(worker_id)}, now, teller));
  record->report.swap(shared);  // The old report is freed after the lock is released.
  record->report_time = now;
  return absl::OkStatus();
}

absl::StatusOr<WorkerRegistry::Record*> WorkerRegistry::FindLocked(Key key, absl::Time now,
                                                                   const WorkerTeller& teller) {
  auto it = workers_.find(key);
  if (it == workers_.end()) {
    if (workers_.size() >= kMaxWorkers) ForgetSilentLocked(now);
    if (workers_.size() >= kMaxWorkers) ForgetOneLocked();
    it = workers_.try_emplace(std::move(key), Record{.client = teller.client}).first;
  }
  Record& record = it->second;
  const bool is_kept =
      record.of_all->is_staying() || record.of_all->last_seen() >= now - kNameKeptFor;
  if (is_kept && !teller.takes.is_all()) return WorkerTaken(it->first.second);
  record.presence(teller.takes)->Seen(now);
  return &record;
}

void WorkerRegistry::ForgetOneLocked() {
  std::map<std::pair<absl::string_view, absl::string_view>, int> groups;
  const auto group = [&](const auto& entry) -> int& {
    return groups[{entry.second.client, entry.first.first}];
  };
  for (const auto& entry : workers_) ++group(entry);
  workers_.erase(std::min_element(workers_.begin(), workers_.end(), [&](auto& a, auto& b) {
    return std::tuple(-group(a), a.second.is_staying(), a.second.last_seen()) <
           std::tuple(-group(b), b.second.is_staying(), b.second.last_seen());
  }));
}

void WorkerRegistry::ForgetSilentLocked(absl::Time now) {
  absl::erase_if(workers_, [&](const auto& entry) {
    return !entry.second.is_staying() && entry.second.last_seen() <= now - kForgetWorkerAfter;
  });
}

void WorkerRegistry::SeeAtWorkLocked(const WorkerActivity& activity, absl::Time now) {
  Key key(activity.target, activity.worker_id);
  const auto it = workers_.find(key);
  const absl::Time seen = activity.polls ? now : activity.last_report;
  if (seen == absl::InfinitePast()) return;
  if (it == workers_.end()) {
    (void)FindLocked(std::move(key), seen, {.takes = activity.takes});
    return;
  }
  WorkerPresence& presence = *it->second.presence(activity.takes);
  presence.Seen(std::max(presence.last_seen(), seen));
}

WorkerCounts WorkerRegistry::Count(const std::vector<WorkerActivity>& activities, absl::Time now) {
  WorkerCounts all;
  for (const auto& [target, counts] : CountByTarget(activities, now)) {
    all.known += counts.known;
    all.connected += counts.connected;
    all.report_bytes += counts.report_bytes;
  }
  return all;
}

std::map<std::string, WorkerCounts> WorkerRegistry::CountByTarget(
    const std::vector<WorkerActivity>& activities, absl::Time now) {
  std::map<std::string, WorkerCounts> targets;
  MutexLock lock(&mutex_);
  // An active worker is known, however long ago its call began.
  for (const WorkerActivity& activity : activities) SeeAtWorkLocked(activity, now);
  ForgetSilentLocked(now);
  for (const auto& [key, record] : workers_) {
    WorkerCounts& counts = targets[key.first];
    ++counts.known;
    if (record.report != nullptr)
      counts.report_bytes += static_cast<int64_t>(record.report->bytes());
    if (now - record.last_seen() <= kConnectedWithin) ++counts.connected;
  }
  return targets;
}

absl::StatusOr<WorkerPage> WorkerRegistry::List(const std::string& target, int page_size,
                                                const std::string& page_token,
                                                std::vector<WorkerActivity> activities,
                                                absl::Time now) {
  if (page_size < 0) return InvalidField("page_size", "must not be negative");
  const size_t limit =
      page_size == 0 ? kMaxWorkers : std::min(static_cast<size_t>(page_size), kMaxWorkers);
  ASSIGN_OR_RETURN(const Key after, KeyBefore(page_token));

  std::map<Key, Record> known;
  {
    MutexLock lock(&mutex_);
    // An active worker is known, however long ago its call began.
    for (const WorkerActivity& activity : activities) SeeAtWorkLocked(activity, now);
    ForgetSilentLocked(now);
    for (const auto& [key, record] : workers_) {
      if (key > after && (target.empty() || key.first == target)) known.emplace(key, record);
    }
  }
  // A name can have several activities, one for each scope of clients.
  std::map<Key, std::vector<CommandPtr>> at_work;
  for (WorkerActivity& activity : activities) {
    absl::c_move(activity.commands,
                 std::back_inserter(at_work[{activity.target, activity.worker_id}]));
  }

  WorkerPage page;
  size_t bytes = 0;
  for (const auto& [key, record] : known) {
    bytes += record.report == nullptr ? 0 : record.report->bytes();
    if (page.workers.size() == limit || (bytes > kMaxListedBytes && !page.workers.empty())) {
      page.next_page_token =
          TokenAfter({page.workers.back().target, page.workers.back().worker_id});
      break;
    }
    WorkerStatus& worker = page.workers.emplace_back();
    std::tie(worker.target, worker.worker_id) = key;
    worker.seen_ago = std::max(now - record.last_seen(), absl::ZeroDuration());
    worker.connected = worker.seen_ago <= kConnectedWithin;
    worker.report = record.report;
    worker.report_ago = now - record.report_time;
    if (const auto it = at_work.find(key); it != at_work.end()) {
      worker.commands = std::move(it->second);
    }
  }
  return page;
}

}  // namespace callslip::tracker
