#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/queue/command_change.h"
#include "tracker/domain/queue/command_partition.h"
#include "tracker/domain/queue/command_partition_step.h"

namespace callslip::tracker {
namespace {

bool HasBytes(const Payload& payload) { return payload != nullptr && !payload->empty(); }

bool Proves(const LeaseProof& proof, const LeaseToken& lease, int attempt) {
  const bool same = proof.token.has_value() ? *proof.token == lease : lease.MayBeLeftOut();
  return same && (proof.attempt == 0 || proof.attempt == attempt);
}

// PERMISSION_DENIED unless the report is about a delivery of the command. NOT_FOUND for a worker
// that does not take the client's commands.
absl::Status CheckProof(const CommandEntry& entry, const LeaseProof& proof) {
  if (!proof.clients.Covers(entry.spec().client_id())) {
    return CommandNotFound(entry.spec().id.ToString());
  }
  if (entry.spec().command_class == CommandClass::kHuman) return absl::OkStatus();
  const int deliveries = static_cast<int>(entry.leases.size());
  for (int attempt = 1; attempt <= deliveries; ++attempt) {
    if (Proves(proof, entry.leases[attempt - 1], attempt)) return absl::OkStatus();
  }
  return WrongLease(entry.spec().id.ToString());
}

// Whether the report is about the latest delivery.
bool IsOfHolder(const CommandEntry& entry, const LeaseProof& proof) {
  if (entry.leases.empty()) return true;
  return Proves(proof, entry.leases.back(), static_cast<int>(entry.leases.size()));
}

// Its worker reported at `now`.
void MarkReport(const CommandEntry& entry, const LeaseProof& proof, absl::Time now) {
  if (entry.worker == nullptr || !IsOfHolder(entry, proof)) return;
  entry.worker->last_report = now;
  if (entry.worker->presence != nullptr) entry.worker->presence->Seen(now);
}

CommandError ResultDropped(size_t bytes) {
  return {"result_dropped",
          absl::StrCat("The command was executed, but its result of ", bytes,
                       " bytes does not fit next to the results that wait to be collected."),
          "Collect earlier results, and look at the page for what it has done.", true};
}

}  // namespace

absl::StatusOr<std::shared_ptr<HeldCall>> CommandPartition::Lease(const LeaseRequest& request,
                                                                  absl::Time now,
                                                                  WorkerCallback callback,
                                                                  CommandEffects& effects) {
  Step step(this, now, effects);
  if (draining_) return Draining();
  TargetQueue* queue = QueueLocked(request.target, now);
  queue->last_poll = now;
  Worker* worker = queue->workers.Find(request.worker_id, request.clients, now);
  worker->presence = request.presence;
  TakeBackLocked(*worker, request.known, step);
  const LeaseTerms terms = {request.max_commands, request.window, request.proofs, request.clients};
  WorkerNews news = TakeNewsLocked(*queue, *worker, terms, step);

  const bool hold = news.empty() && request.hold_until > now;
  if (!hold) {
    worker->back_by = now + request.back_within;
    effects.answers.emplace_back(std::move(callback), std::move(news));
    return nullptr;
  }
  const std::shared_ptr<ClientAccount> account = shared_->accounts.Of(request.client_id);
  RETURN_IF_ERROR(shared_->ReserveWait(*account));
  auto call = std::make_shared<HeldCall>();
  call->account = account;
  call->partition = index_;
  call->queue = queue;
  call->terms = terms;
  call->back_within = request.back_within;
  call->callback = std::move(callback);
  queue->workers.Hold(worker, call);
  deadlines_.Set(call.get(), request.hold_until);
  return call;
}

bool CommandPartition::Abandon(HeldCall& call, absl::Time now) {
  CommandEffects
      nobody_is_called;  // Outlives the lock, because the callback may hold large objects.
  Step step(this, now, nobody_is_called);
  if (call.worker == nullptr) return false;
  EndCallLocked(&call, {}, step);
  return true;
}

void CommandPartition::EndCallLocked(HeldCall* call, WorkerNews news, Step& step) {
  deadlines_.Remove(call);
  shared_->FreeWait(*call->account);
  const std::shared_ptr<HeldCall> ended = call->queue->workers.Release(call, step.now);
  step.effects.answers.emplace_back(std::move(ended->callback), std::move(news));
}

WorkerNews CommandPartition::TakeNewsLocked(TargetQueue& queue, Worker& worker,
                                            const LeaseTerms& terms, Step& step) {
  WorkerNews news;
  while (!worker.ended.empty()) {
    CommandEntry& entry = worker.ended.front();
    worker.ended.pop_front();
    news.ended.push_back({entry.spec().id, entry.leases.back()});
    queue.workers.Detach(&entry);
    entry.queue = nullptr;
    step.Touch(entry);
  }
  while (static_cast<int>(news.leases.size()) < terms.max_commands &&
         worker.unfinished < terms.window) {
    CommandEntry* entry = queue.backlog.Next(terms.clients);
    if (entry == nullptr) break;
    news.leases.push_back(DeliverLocked(*entry, worker, terms.proofs, step));
  }
  return news;
}

CommandLease CommandPartition::DeliverLocked(CommandEntry& entry, Worker& worker,
                                             LeaseProofs proofs, Step& step) {
  entry.leases.push_back(LeaseToken::New(proofs));
  entry.queue->workers.Attach(&entry, &worker);
  Change change(entry);
  change.Step(CommandEvent::kDeliver, TraceEntry::Source::kTracker, step.now);
  change.next->workers.push_back(worker.name);
  CommitLocked(entry, std::move(change), step);
  // Zero if its deadline has passed and has not fired yet.
  const int64_t left = std::max<int64_t>(CloseNanos(*entry.view) - NanosOf(step.now), 0);
  const int64_t start_to_close = entry.spec().deadlines->nanos.start_to_close;
  return {entry.view, entry.leases.back(), absl::Nanoseconds(std::min(start_to_close, left))};
}

void CommandPartition::DispatchLocked(TargetQueue& queue, Step& step) {
  std::optional<ClientScope> served;  // Clients that have nothing left to deliver.
  for (HeldCall* call = queue.workers.NextReady(); call != nullptr;) {
    if (served == call->terms.clients) {
      call = queue.workers.NextReady(call);
      continue;
    }
    WorkerNews news = TakeNewsLocked(queue, *call->worker, call->terms, step);
    // A worker that could take more has received all of these clients' commands that can be
    // delivered.
    const bool has_all = static_cast<int>(news.leases.size()) < call->terms.max_commands &&
                         call->worker->unfinished < call->terms.window;
    if (has_all) served = call->terms.clients;
    const bool is_passed_over = news.empty();
    if (!is_passed_over) EndCallLocked(call, std::move(news), step);
    if (served.has_value() && served->is_all()) return;
    call = queue.workers.NextReady(is_passed_over ? call : nullptr);
  }
}

void CommandPartition::LeaveWorkerLocked(CommandEntry& entry, bool tell, Step& step) {
  TargetQueue* queue = entry.queue;
  Worker* worker = entry.worker;
  if (worker == nullptr || !tell) {
    queue->workers.Detach(&entry);
    entry.queue = nullptr;
    return;
  }
  worker->ended.push_back(entry);
  if (worker->calls.empty()) return;
  HeldCall* call = &worker->calls.front();
  EndCallLocked(call, TakeNewsLocked(*queue, *worker, call->terms, step), step);
}

void CommandPartition::GiveBack(const CommandLease& lease, absl::Time now,
                                CommandEffects& effects) {
  Step step(this, now, effects);
  CommandEntry* found = EntryLocked(lease.command->spec->id);
  if (found == nullptr) return;
  CommandEntry& entry = *found;
  const bool as_leased =
      entry.view->state == CommandState::kDelivered && entry.leases.back() == lease.token;
  if (as_leased) ReturnLocked(entry, step);
}

void CommandPartition::TakeBackLocked(Worker& worker, const KnownDeliveries& known, Step& step) {
  absl::InlinedVector<CommandEntry*, kWorkerWindow> unheard;
  for (CommandEntry& entry : worker.held) {
    const bool never_arrived = entry.view->state == CommandState::kDelivered &&
                               entry.view->deliver_time() > step.now - known.reach_back &&
                               !absl::c_linear_search(known.leases, entry.leases.back());
    if (never_arrived) unheard.push_back(&entry);
  }
  for (CommandEntry* entry : unheard) ReturnLocked(*entry, step);
}

void CommandPartition::ReturnLocked(CommandEntry& entry, Step& step) {
  Change change(entry);
  change.Step(CommandEvent::kReturnToQueue, TraceEntry::Source::kTracker, step.now);
  // No worker has seen it, so it counts as not delivered.
  --change.next->attempt;
  if (!change.next->workers.empty()) change.next->workers.pop_back();
  change.next->trace.pop_back();
  change.next->trace.pop_back();
  entry.leases.pop_back();
  CommitLocked(entry, std::move(change), step);
  entry.queue->workers.Reattach(&entry);
}

absl::StatusOr<AcknowledgeResult> CommandPartition::Acknowledge(
    CommandId id, const LeaseProof& proof, std::shared_ptr<const CommandProgress> progress,
    Payload context, Heartbeats heartbeats, absl::Time now, CommandEffects& effects) {
  Step step(this, now, effects);
  CommandEntry* entry = EntryLocked(id);
  if (entry == nullptr) {
    const Tombstones::Tombstone* tombstone = tombstones_.Find(id);
    if (tombstone == nullptr) return CommandNotFound(id.ToString());
    const CommandState ended_as = tombstone->ended_as;
    return AcknowledgeResult{ended_as == CommandState::kCancelled, ended_as};
  }
  RETURN_IF_ERROR(CheckProof(*entry, proof));
  MarkReport(*entry, proof, now);
  const CommandState state = entry->view->state;
  if (IsTerminal(state)) return AcknowledgeResult{state == CommandState::kCancelled, state};
  const bool expected = heartbeats == Heartbeats::kExpected;
  const bool was_expected = entry->heartbeat_nanos != CommandEntry::kNoHeartbeats;
  entry->heartbeat_nanos = expected ? absl::ToUnixNanos(now) : CommandEntry::kNoHeartbeats;
  if (state == CommandState::kRunning && progress == nullptr && !HasBytes(context)) {
    // A bare heartbeat only moves a deadline. Readers see no change, and the journal does not need
    // it, because a restart gives every worker a grace period.
    RearmLocked(*entry);
    if (expected != was_expected) step.Touch(*entry);
  } else {
    Change change(*entry);
    change.Step(CommandEvent::kAcknowledge, TraceEntry::Source::kWorker, now);
    if (progress != nullptr) change.next->progress = std::move(progress);
    if (HasBytes(context)) change.next->context = std::move(context);
    CommitLocked(*entry, std::move(change), step);
  }
  return AcknowledgeResult{false, entry->view->state};
}

absl::StatusOr<CompleteResult> CommandPartition::Complete(CommandId id, const LeaseProof& proof,
                                                          CommandOutcome outcome, Payload context,
                                                          WorkTime work, absl::Time now,
                                                          CommandEffects& effects) {
  Step step(this, now, effects);
  CommandEntry* entry = EntryLocked(id);
  if (entry == nullptr) {
    const Tombstones::Tombstone* tombstone = tombstones_.Find(id);
    if (tombstone == nullptr) return CommandNotFound(id.ToString());
    ++shared_->late_results;
    return CompleteResult{false, tombstone->ended_as};
  }
  RETURN_IF_ERROR(CheckProof(*entry, proof));
  MarkReport(*entry, proof, now);
  auto* result = std::get_if<CommandResult>(&outcome);
  const bool fits = result == nullptr || FitsLocked(*entry, result->value);
  Change change(*entry);
  if (IsTerminal(entry->view->state)) {
    ++shared_->late_results;
    const bool keep = result != nullptr && fits && entry->view->state != CommandState::kCompleted &&
                      entry->view->late_result == nullptr;
    if (keep) {
      change.next->late_result = std::move(result->value);
      AddTrace(*change.next, TraceEntry::Stage::kLateResult, TraceEntry::Source::kWorker, now);
      CommitLocked(*entry, std::move(change), step);
    }
    return CompleteResult{false, entry->view->state};
  }

  change.by_holder = IsOfHolder(*entry, proof);
  if (HasBytes(context)) change.next->context = std::move(context);
  change.next->work = work;
  CommandEvent event = CommandEvent::kComplete;
  std::optional<CommandError> error;
  if (auto* failure = std::get_if<CommandFailure>(&outcome); failure != nullptr) {
    event = CommandEvent::kFail;
    error = std::move(failure->error);
  } else if (auto* timeout = std::get_if<CommandTimeout>(&outcome); timeout != nullptr) {
    event = CommandEvent::kTimeOut;
    error = std::move(timeout->error);
  } else if (!fits) {
    event = CommandEvent::kFail;
    error = ResultDropped(result->value->size());
  } else {
    change.next->result = std::move(result->value);
  }
  if (error.has_value()) change.next->error = std::make_shared<const CommandError>(*error);
  change.Step(event, TraceEntry::Source::kWorker, now);
  CommitLocked(*entry, std::move(change), step);
  return CompleteResult{true, entry->view->state};
}

void CommandPartition::AddActivities(absl::string_view target,
                                     std::vector<WorkerActivity>& activities) {
  MutexLock lock(&mutex_);
  for (const auto& [name, queue] : queues_) {
    if (!target.empty() && name != target) continue;
    for (const Worker* worker : queue->workers.Busy()) {
      WorkerActivity& activity =
          activities.emplace_back(WorkerActivity{.target = name,
                                                 .worker_id = *worker->name,
                                                 .takes = worker->takes,
                                                 .polls = !worker->calls.empty(),
                                                 .last_report = worker->last_report});
      for (const CommandEntry& entry : worker->held) activity.commands.push_back(entry.view);
      absl::c_sort(activity.commands, [](const auto& a, const auto& b) {
        return a->spec->sequence < b->spec->sequence;
      });
    }
  }
}

void CommandPartition::AddLoads(const ClientScope& clients, std::vector<TargetLoad>& loads) {
  MutexLock lock(&mutex_);
  for (const auto& [name, queue] : queues_) {
    TargetLoad load{.target = name};
    queue->backlog.AddTo(clients, load);
    for (const Worker* worker : queue->workers.Busy()) {
      for (const CommandEntry& entry : worker->held) {
        if (!clients.Covers(entry.spec().client_id())) continue;
        ++(entry.view->state == CommandState::kRunning ? load.running : load.delivered);
      }
    }
    if (load.queued + load.delivered + load.running > 0) loads.push_back(std::move(load));
  }
}

bool CommandPartition::FitsLocked(const CommandEntry& entry, const Payload& result) const {
  // Twice the limit of registrations, because accepted commands must be answered.
  const auto bytes = result == nullptr ? 0 : static_cast<int64_t>(result->size());
  const CommandLimits& limits = shared_->limits;
  return shared_->usage.bytes() + bytes <= 2 * limits.payload_bytes &&
         entry.client->account->usage.bytes() + bytes <= 2 * limits.payload_bytes_of_client;
}

}  // namespace callslip::tracker
