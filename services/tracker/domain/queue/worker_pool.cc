#include "tracker/domain/queue/worker_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {

namespace {

// Ids have no line breaks.
std::string KeyOf(const std::string& id, const ClientScope& takes) {
  return takes.is_all() ? id : absl::StrCat(id, "\n", takes.client_id());
}

}  // namespace

Worker* WorkerPool::Find(const std::string& id, const ClientScope& takes, absl::Time now) {
  return Find(KeyOf(id, takes), now);
}

Worker* WorkerPool::Find(const std::string& key, absl::Time now) {
  if (const auto it = workers_.find(key); it != workers_.end()) return &it->second;
  const bool crowded = workers_.size() >= kMaxSuspendedWorkers;
  pruning_.BeforeAdding(workers_, [&](const Worker& worker) {
    return worker.attached == 0 && worker.calls.empty() && (worker.back_by <= now || crowded);
  });
  const auto it = workers_.try_emplace(key).first;
  Worker& worker = it->second;
  worker.key = it->first;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(worker.key, absl::MaxSplits('\n', 1));
  worker.name = std::make_shared<const std::string>(parts.first);
  if (!parts.second.empty()) worker.takes = ClientScope(std::string(parts.second));
  return &worker;
}

void WorkerPool::Attach(CommandEntry* entry, Worker* worker) {
  ++attached_;
  ++worker->attached;
  LetGo(std::exchange(entry->worker_before, std::exchange(entry->worker, worker)));
}

void WorkerPool::Reattach(CommandEntry* entry) {
  LetGo(std::exchange(entry->worker, std::exchange(entry->worker_before, nullptr)));
}

void WorkerPool::Detach(CommandEntry* entry) {
  LetGo(std::exchange(entry->worker, nullptr));
  LetGo(std::exchange(entry->worker_before, nullptr));
}

void WorkerPool::LetGo(Worker* worker) {
  if (worker == nullptr) return;
  --attached_;
  --worker->attached;
}

void WorkerPool::OccupyPlace(CommandEntry* entry) {
  ++entry->worker->unfinished;
  entry->worker->held.push_back(*entry);
  Update(entry->worker);
}

void WorkerPool::FreePlace(CommandEntry* entry) {
  --entry->worker->unfinished;
  entry->worker->held.erase(entry->worker->held.iterator_to(*entry));
  Update(entry->worker);
}

void WorkerPool::Hold(Worker* worker, std::shared_ptr<HeldCall> call) {
  HeldCall* held = call.get();
  held->worker = worker;
  worker->back_by = absl::InfinitePast();
  held->self = std::move(call);
  worker->calls.push_back(*held);
  ++calls_;
  Update(worker);
}

std::shared_ptr<HeldCall> WorkerPool::Release(HeldCall* call, absl::Time now) {
  Worker* worker = std::exchange(call->worker, nullptr);
  worker->back_by = std::max(worker->back_by, now + call->back_within);
  worker->calls.erase(worker->calls.iterator_to(*call));
  --calls_;
  Update(worker);
  // It has had its turn: the others come first.
  if (worker->ready) ready_.splice(ready_.end(), ready_, ready_.iterator_to(*worker));
  return std::move(call->self);
}

absl::Time WorkerPool::BackBy(std::optional<absl::string_view> client) const {
  absl::Time latest = absl::InfinitePast();
  for (const auto& [id, worker] : workers_) {
    if (client.has_value() && !worker.takes.Covers(*client)) continue;
    if (worker.calls.empty()) latest = std::max(latest, worker.back_by);
  }
  return latest;
}

void WorkerPool::Update(Worker* worker) {
  const bool ready = ReadyCallOf(*worker, worker->calls.begin()) != nullptr;
  if (ready == worker->ready) return;
  worker->ready = ready;
  if (ready) {
    ready_.push_back(*worker);
  } else {
    ready_.erase(ready_.iterator_to(*worker));
  }
}

HeldCall* WorkerPool::ReadyCallOf(Worker& worker, Worker::Calls::iterator from) {
  for (; from != worker.calls.end(); ++from) {
    if (worker.unfinished < from->terms.window) return &*from;
  }
  return nullptr;
}

HeldCall* WorkerPool::NextReady(HeldCall* after) {
  auto worker = ready_.begin();
  if (after != nullptr) {
    Worker& its = *after->worker;
    HeldCall* call = ReadyCallOf(its, std::next(its.calls.iterator_to(*after)));
    if (call != nullptr) return call;
    worker = std::next(ready_.iterator_to(its));
  }
  return worker == ready_.end() ? nullptr : ReadyCallOf(*worker, worker->calls.begin());
}

std::vector<const Worker*> WorkerPool::Busy() const {
  std::vector<const Worker*> busy;
  for (const auto& [id, worker] : workers_) {
    if (worker.attached > 0 || !worker.calls.empty()) busy.push_back(&worker);
  }
  return busy;
}

std::vector<HeldCall*> WorkerPool::HeldCalls() {
  std::vector<HeldCall*> calls;
  for (auto& [id, worker] : workers_) {
    for (HeldCall& call : worker.calls) calls.push_back(&call);
  }
  return calls;
}

}  // namespace callslip::tracker
