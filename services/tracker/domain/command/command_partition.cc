#include "tracker/domain/command/command_partition.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/ids.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

int64_t SizeOf(const Payload& payload) {
  return payload == nullptr ? 0 : static_cast<int64_t>(payload->size());
}

bool HasBytes(const Payload& payload) { return SizeOf(payload) > 0; }

// True where registering `b` again under the request_id of `a` asks for the same thing.
bool SameRequest(const CommandSpec& a, const CommandSpec& b) {
  return a.target == b.target && a.type == b.type && *a.params == *b.params &&
         a.command_class == b.command_class && a.idempotent == b.idempotent &&
         a.start_to_close == b.start_to_close;
}

// Names have no control characters, so that a line break can part them.
std::string RequestKey(const CommandSpec& spec) {
  return absl::StrCat(spec.client_id, "\n", spec.target, "\n", spec.request_id);
}

TraceEntry::Stage StageOf(CommandEvent event) {
  switch (event) {
    case CommandEvent::kDeliver:
      return TraceEntry::Stage::kSent;
    case CommandEvent::kAcknowledge:
      return TraceEntry::Stage::kStarted;
    case CommandEvent::kReturnToQueue:
      return TraceEntry::Stage::kReturned;
    default:
      return TraceEntry::Stage::kResolved;
  }
}

void AddTrace(CommandSnapshot& view, TraceEntry::Stage stage, TraceEntry::Source source,
              absl::Time now) {
  // The end of a command is always recorded, since the entry before it may be the last that fits.
  if (view.trace.size() >= kMaxTraceEntries && stage != TraceEntry::Stage::kResolved) return;
  view.trace.push_back({stage, source, now});
}

bool HoldsWorkerPlace(CommandState state) {
  return state == CommandState::kDelivered || state == CommandState::kRunning;
}

}  // namespace

bool CommandFilter::Matches(const CommandSnapshot& command) const {
  return (states.empty() || absl::c_linear_search(states, command.state)) &&
         (target.empty() || target == command.spec->target) &&
         (label.empty() || label == command.spec->label);
}

CommandPartition::~CommandPartition() = default;

void CommandPartition::Run(const Effects& effects) {
  for (const auto& effect : effects) effect();
}

absl::StatusOr<CommandEntry*> CommandPartition::FindLocked(const std::string& client_id,
                                                           const std::string& id) {
  if (const auto it = commands_.find(id); it != commands_.end()) {
    if (it->second->view.spec->client_id != client_id) return CommandNotFound(id);
    return it->second.get();
  }
  const auto tombstone = tombstones_.find(id);
  if (tombstone == tombstones_.end() || tombstone->second->client_id != client_id) {
    return CommandNotFound(id);
  }
  return CommandRemoved(id, tombstone->second->ended_as);
}

absl::StatusOr<CommandEntry*> CommandPartition::FindLeasedLocked(const std::string& id,
                                                                 const std::string& lease_token) {
  const auto it = commands_.find(id);
  if (it == commands_.end()) return CommandNotFound(id);
  CommandEntry* entry = it->second.get();
  const bool human = entry->view.spec->command_class == CommandClass::kHuman;
  const bool proven = lease_token.empty() ? human || !entry->lease_tokens.empty()
                                          : absl::c_linear_search(entry->lease_tokens, lease_token);
  if (!proven) return WrongLease(id);
  return entry;
}

TargetQueue& CommandPartition::QueueLocked(const std::string& target) {
  std::unique_ptr<TargetQueue>& queue = queues_[target];
  if (queue == nullptr) queue = std::make_unique<TargetQueue>();
  return *queue;
}

void CommandPartition::SetPayloadLocked(Payload& slot, Payload payload) {
  shared_->payload_bytes += SizeOf(payload) - SizeOf(slot);
  slot = std::move(payload);
}

absl::StatusOr<CommandRegistration> CommandPartition::Register(CommandSpec spec, absl::Time now) {
  Effects effects;
  CommandRegistration registration;
  {
    MutexLock lock(&mutex_);
    if (!spec.request_id.empty()) {
      const auto known = requests_.find(RequestKey(spec));
      if (known != requests_.end()) {
        if (!SameRequest(*known->second->view.spec, spec)) return RequestIdReused(spec.request_id);
        return CommandRegistration{known->second->view, true};
      }
    }
    if (shared_->commands >= static_cast<int64_t>(kMaxCommands) ||
        shared_->payload_bytes + SizeOf(spec.params) > kMaxPayloadBytes) {
      return TableFull();
    }
    const bool queued = spec.command_class == CommandClass::kStandard;
    TargetQueue& queue = QueueLocked(spec.target);
    if (queued && queue.depth() >= kQueueCapacity) {
      return QueueFull(spec.target, static_cast<int>(queue.depth()));
    }
    CommandEntry* entry = AddLocked(std::move(spec), now);
    if (queued) queue.PushBack(entry);
    registration.command = entry->view;
    DispatchLocked(entry->view.spec->target, now, effects);
  }
  Run(effects);
  return registration;
}

CommandEntry* CommandPartition::AddLocked(CommandSpec spec, absl::Time now) {
  spec.id = spec.command_class == CommandClass::kHuman ? NewAnnotationId(now, index_)
                                                       : NewCorrelationId(now, index_);
  spec.register_time = now;
  spec.sequence = shared_->next_sequence++;
  ++shared_->commands;
  shared_->payload_bytes += SizeOf(spec.params);

  auto owned = std::make_unique<CommandEntry>();
  CommandEntry* entry = owned.get();
  entry->view.spec = std::make_shared<const CommandSpec>(std::move(spec));
  const CommandSpec& added = *entry->view.spec;
  AddTrace(entry->view, TraceEntry::Stage::kQueued, TraceEntry::Source::kClient, now);
  commands_.emplace(added.id, std::move(owned));
  clients_[added.client_id].by_sequence.emplace(added.sequence, entry);
  if (!added.request_id.empty()) requests_[RequestKey(added)] = entry;
  deadlines_.Set(entry, NextDeadline(shared_->deadlines, entry->view, entry->last_heartbeat).at);
  return entry;
}

absl::StatusOr<CommandSnapshot> CommandPartition::Get(const std::string& client_id,
                                                      const std::string& id, bool peek) {
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(client_id, id));
  if (!peek && IsTerminal(entry->view.state)) entry->result_read = true;
  return entry->view;
}

std::vector<CommandSnapshot> CommandPartition::List(const CommandFilter& filter,
                                                    uint64_t before_sequence, int limit) {
  std::vector<CommandSnapshot> page;
  MutexLock lock(&mutex_);
  const auto client = clients_.find(filter.client_id);
  if (client == clients_.end()) return page;
  const auto& by_sequence = client->second.by_sequence;
  for (auto it = by_sequence.lower_bound(before_sequence);
       it != by_sequence.begin() && static_cast<int>(page.size()) < limit;) {
    --it;
    if (filter.Matches(it->second->view)) page.push_back(it->second->view);
  }
  return page;
}

absl::StatusOr<CommandSnapshot> CommandPartition::Cancel(const std::string& client_id,
                                                         const std::string& id, absl::Time now) {
  Effects effects;
  CommandSnapshot cancelled;
  {
    MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(client_id, id));
    const CommandState state = entry->view.state;
    if (state == CommandState::kCancelled) return entry->view;
    if (IsTerminal(state)) return CommandAlreadyEnded(id, state);
    const bool delivered = entry->view.attempt > 0;
    FailLocked(*entry, CommandEvent::kCancel, TraceEntry::Source::kClient,
               {"cancelled", "The command was cancelled.",
                delivered ? "A worker had it already: look at the page for what it has done." : "",
                delivered},
               now, effects);
    cancelled = entry->view;
    DispatchLocked(entry->view.spec->target, now, effects);
  }
  Run(effects);
  return cancelled;
}

absl::Status CommandPartition::Watch(const std::string& client_id, const std::string& id,
                                     int64_t after_revision, absl::Time until,
                                     std::shared_ptr<CommandWatcher> watcher) {
  std::optional<CommandSnapshot> present;
  {
    MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(client_id, id));
    const bool terminal = IsTerminal(entry->view.state);
    if (!terminal) {
      if (shared_->waits >= static_cast<int64_t>(kMaxWaits)) return TooManyWaits();
      ++shared_->waits;
      entry->waits.push_back(std::make_unique<CommandWait>(entry, watcher));
      deadlines_.Set(entry->waits.back().get(), until);
    }
    // A terminal command is always sent: its watcher waits for the end.
    if (terminal) entry->result_read = true;
    if (terminal || entry->view.revision > after_revision) present = entry->view;
  }
  if (present.has_value()) watcher->OnCommand(*present);
  return absl::OkStatus();
}

void CommandPartition::Unwatch(const std::string& id, const CommandWatcher* watcher) {
  MutexLock lock(&mutex_);
  const auto it = commands_.find(id);
  if (it == commands_.end()) return;
  auto& waits = it->second->waits;
  const auto wait =
      absl::c_find_if(waits, [&](const auto& held) { return held->watcher.get() == watcher; });
  if (wait == waits.end()) return;
  deadlines_.Remove(wait->get());
  waits.erase(wait);
  --shared_->waits;
}

absl::StatusOr<uint64_t> CommandPartition::Lease(const LeaseRequest& request, absl::Time now,
                                                 LeaseCallback callback) {
  Effects effects;
  std::vector<CommandLease> leases;
  {
    MutexLock lock(&mutex_);
    TargetQueue& queue = QueueLocked(request.target);
    leases = DeliverLocked(queue, request.worker_id, request.max_commands, now, effects);
    if (leases.empty() && request.hold_until > now) {
      if (shared_->waits >= static_cast<int64_t>(kMaxWaits)) {
        ForgetIfUnusedLocked(request.target);
        return TooManyWaits();
      }
      ++shared_->waits;
      auto poll = std::make_unique<HeldPoll>();
      poll->number = next_poll_++;
      poll->target = request.target;
      poll->worker_id = request.worker_id;
      poll->max_commands = request.max_commands;
      poll->callback = std::move(callback);
      HeldPoll* held = queue.Hold(std::move(poll));
      deadlines_.Set(held, request.hold_until);
      return held->number;
    }
    ForgetIfUnusedLocked(request.target);
  }
  Run(effects);
  callback(std::move(leases));
  return 0;
}

bool CommandPartition::AbandonPoll(const std::string& target, uint64_t number) {
  MutexLock lock(&mutex_);
  const auto it = queues_.find(target);
  if (it == queues_.end()) return false;
  HeldPoll* poll = it->second->FindPoll(number);
  if (poll == nullptr) return false;
  deadlines_.Remove(poll);
  it->second->Release(poll);
  --shared_->waits;
  ForgetIfUnusedLocked(target);
  return true;
}

std::vector<CommandLease> CommandPartition::DeliverLocked(TargetQueue& queue,
                                                          const std::string& worker_id,
                                                          int max_commands, absl::Time now,
                                                          Effects& effects) {
  std::vector<CommandLease> leases;
  int room = std::min(max_commands, queue.RoomOf(worker_id));
  for (; room > 0 && queue.has_commands(); --room) {
    // ApplyLocked() takes it out of the queue.
    CommandEntry& entry = *queue.Front();
    entry.worker_id = worker_id;
    entry.lease_tokens.push_back(NewLeaseToken());
    ApplyLocked(entry, CommandEvent::kDeliver, TraceEntry::Source::kTracker, now);
    ChangedLocked(entry, now, effects);
    leases.push_back({entry.view, entry.lease_tokens.back()});
  }
  return leases;
}

void CommandPartition::DispatchLocked(const std::string& target, absl::Time now, Effects& effects) {
  const auto it = queues_.find(target);
  if (it == queues_.end()) return;
  TargetQueue& queue = *it->second;
  while (queue.has_commands()) {
    HeldPoll* poll = queue.FirstReadyPoll();
    if (poll == nullptr) break;
    EndPollLocked(poll, DeliverLocked(queue, poll->worker_id, poll->max_commands, now, effects),
                  effects);
  }
  ForgetIfUnusedLocked(target);
}

void CommandPartition::ForgetIfUnusedLocked(const std::string& target) {
  const auto it = queues_.find(target);
  if (it != queues_.end() && it->second->IsUnused()) queues_.erase(it);
}

void CommandPartition::GiveBack(const CommandLease& lease, absl::Time now) {
  Effects effects;
  {
    MutexLock lock(&mutex_);
    const auto it = commands_.find(lease.command.spec->id);
    if (it == commands_.end()) return;
    CommandEntry& entry = *it->second;
    const bool as_leased = entry.view.state == CommandState::kDelivered &&
                           entry.lease_tokens.back() == lease.lease_token;
    if (!as_leased) return;
    ApplyLocked(entry, CommandEvent::kReturnToQueue, TraceEntry::Source::kTracker, now);
    // Nobody has seen it: it counts as not delivered.
    entry.lease_tokens.pop_back();
    --entry.view.attempt;
    ChangedLocked(entry, now, effects);
    DispatchLocked(entry.view.spec->target, now, effects);
  }
  Run(effects);
}

absl::StatusOr<AcknowledgeResult> CommandPartition::Acknowledge(
    const std::string& id, const std::string& lease_token, std::optional<CommandProgress> progress,
    Payload context, absl::Time now) {
  Effects effects;
  AcknowledgeResult result;
  {
    MutexLock lock(&mutex_);
    if (const auto it = tombstones_.find(id); it != tombstones_.end()) {
      const CommandState state = it->second->ended_as;
      return AcknowledgeResult{state == CommandState::kCancelled, state};
    }
    ASSIGN_OR_RETURN(CommandEntry * entry, FindLeasedLocked(id, lease_token));
    CommandSnapshot& view = entry->view;
    if (!IsTerminal(view.state)) {
      const bool visible =
          view.state != CommandState::kRunning || progress.has_value() || HasBytes(context);
      if (progress.has_value()) view.progress = std::move(progress);
      if (HasBytes(context)) SetPayloadLocked(view.context, std::move(context));
      ApplyLocked(*entry, CommandEvent::kAcknowledge, TraceEntry::Source::kWorker, now);
      // A bare heartbeat moves a deadline and nothing that a reader could see.
      if (visible) ChangedLocked(*entry, now, effects);
      deadlines_.Set(entry, NextDeadline(shared_->deadlines, view, entry->last_heartbeat).at);
    }
    result = {view.state == CommandState::kCancelled, view.state};
  }
  Run(effects);
  return result;
}

absl::StatusOr<CompleteResult> CommandPartition::Complete(const std::string& id,
                                                          const std::string& lease_token,
                                                          CommandOutcome outcome, Payload context,
                                                          absl::Time now) {
  Effects effects;
  CompleteResult result{.accepted = true};
  {
    MutexLock lock(&mutex_);
    if (const auto it = tombstones_.find(id); it != tombstones_.end()) {
      ++shared_->late_results;
      return CompleteResult{false, it->second->ended_as};
    }
    ASSIGN_OR_RETURN(CommandEntry * entry, FindLeasedLocked(id, lease_token));
    CommandSnapshot& view = entry->view;
    auto* value = std::get_if<CommandResult>(&outcome);
    if (IsTerminal(view.state)) {
      ++shared_->late_results;
      if (value != nullptr && view.state != CommandState::kCompleted &&
          view.late_result == nullptr) {
        SetPayloadLocked(view.late_result, std::move(value->value));
        AddTrace(view, TraceEntry::Stage::kLateResult, TraceEntry::Source::kWorker, now);
        ++view.revision;
      }
      return CompleteResult{false, view.state};
    }
    if (HasBytes(context)) SetPayloadLocked(view.context, std::move(context));
    if (value != nullptr) {
      SetPayloadLocked(view.result, std::move(value->value));
      ApplyLocked(*entry, CommandEvent::kComplete, TraceEntry::Source::kWorker, now);
      ChangedLocked(*entry, now, effects);
    } else if (auto* failure = std::get_if<CommandFailure>(&outcome); failure != nullptr) {
      FailLocked(*entry, CommandEvent::kFail, TraceEntry::Source::kWorker,
                 std::move(failure->error), now, effects);
    } else {
      FailLocked(*entry, CommandEvent::kTimeOut, TraceEntry::Source::kWorker,
                 std::move(std::get<CommandTimeout>(outcome).error), now, effects);
    }
    result.state = view.state;
    DispatchLocked(view.spec->target, now, effects);
  }
  Run(effects);
  return result;
}

void CommandPartition::ApplyLocked(CommandEntry& entry, CommandEvent event,
                                   TraceEntry::Source source, absl::Time now) {
  CommandSnapshot& view = entry.view;
  const CommandState from = view.state;
  const std::optional<CommandState> to = NextState(from, event);
  if (!to.has_value()) std::abort();  // The callers check what may come from outside.

  view.state = *to;
  if (event == CommandEvent::kDeliver) {
    ++view.attempt;
    view.deliver_time = now;
  }
  if (event == CommandEvent::kAcknowledge) {
    entry.last_heartbeat = now;
    if (view.start_time == absl::InfinitePast()) view.start_time = now;
  }
  if (IsTerminal(*to) && !IsTerminal(from)) view.end_time = now;
  if (from != *to) AddTrace(view, StageOf(event), source, now);

  if (view.spec->command_class == CommandClass::kHuman || IsTerminal(from)) return;
  TargetQueue& queue = QueueLocked(view.spec->target);
  if (from == CommandState::kQueued) queue.Remove(&entry);
  if (!HoldsWorkerPlace(from) && HoldsWorkerPlace(*to)) queue.OccupyPlace(entry.worker_id);
  if (HoldsWorkerPlace(from) && !HoldsWorkerPlace(*to)) queue.FreePlace(entry.worker_id);
  if (*to == CommandState::kQueued) queue.PushFront(&entry);
}

void CommandPartition::ChangedLocked(CommandEntry& entry, absl::Time now, Effects& effects) {
  ++entry.view.revision;
  deadlines_.Set(&entry, NextDeadline(shared_->deadlines, entry.view, entry.last_heartbeat).at);
  NotifyWaitsLocked(entry, effects);
  if (IsTerminal(entry.view.state) && entry.view.state != CommandState::kCompleted) {
    KeepFailedLocked(entry, now);
  }
}

void CommandPartition::FailLocked(CommandEntry& entry, CommandEvent event,
                                  TraceEntry::Source source, CommandError error, absl::Time now,
                                  Effects& effects) {
  entry.view.error = std::make_shared<const CommandError>(std::move(error));
  ApplyLocked(entry, event, source, now);
  ChangedLocked(entry, now, effects);
}

void CommandPartition::NotifyWaitsLocked(CommandEntry& entry, Effects& effects) {
  if (entry.waits.empty()) return;
  auto snapshot = std::make_shared<const CommandSnapshot>(entry.view);
  for (const auto& wait : entry.waits) {
    effects.push_back([watcher = wait->watcher, snapshot] { watcher->OnCommand(*snapshot); });
  }
  if (!IsTerminal(entry.view.state)) return;
  entry.result_read = true;
  for (const auto& wait : entry.waits) deadlines_.Remove(wait.get());
  shared_->waits -= static_cast<int64_t>(entry.waits.size());
  entry.waits.clear();
}

absl::Time CommandPartition::NextDeadlineTime() {
  MutexLock lock(&mutex_);
  return deadlines_.Earliest();
}

void CommandPartition::FireDeadlines(absl::Time now) {
  Effects effects;
  {
    MutexLock lock(&mutex_);
    while (Timed* timed = deadlines_.PopDue(now)) {
      switch (timed->kind) {
        case Timed::Kind::kCommand:
          FireCommandLocked(*static_cast<CommandEntry*>(timed), now, effects);
          break;
        case Timed::Kind::kHeldPoll: {
          const std::string target = static_cast<HeldPoll*>(timed)->target;
          EndPollLocked(static_cast<HeldPoll*>(timed), {}, effects);
          ForgetIfUnusedLocked(target);
          break;
        }
        case Timed::Kind::kWait:
          EndWaitLocked(static_cast<CommandWait*>(timed), effects);
          break;
        case Timed::Kind::kTombstone: {
          // A copy, since erase() must not read its key from what it destroys.
          const std::string id = static_cast<CommandTombstone*>(timed)->id;
          tombstones_.erase(id);
          break;
        }
      }
    }
  }
  Run(effects);
}

void CommandPartition::FireCommandLocked(CommandEntry& entry, absl::Time now, Effects& effects) {
  const DeadlineKind kind = NextDeadline(shared_->deadlines, entry.view, entry.last_heartbeat).kind;
  const std::string target = entry.view.spec->target;
  switch (kind) {
    case DeadlineKind::kNone:
      return;
    case DeadlineKind::kFailedRetention:
      RemoveLocked(entry, now);
      return;
    case DeadlineKind::kResultRetention:
      if (entry.result_read) {
        RemoveLocked(entry, now);
        return;
      }
      SetPayloadLocked(entry.view.result, nullptr);
      FailLocked(entry, CommandEvent::kForgetResult, TraceEntry::Source::kTracker,
                 DeadlineError(kind, shared_->deadlines, entry.view), now, effects);
      return;
    case DeadlineKind::kAckWait:
      if (entry.view.spec->idempotent && entry.view.attempt < kMaxAttempts) {
        ApplyLocked(entry, CommandEvent::kReturnToQueue, TraceEntry::Source::kTracker, now);
        ChangedLocked(entry, now, effects);
        break;
      }
      [[fallthrough]];
    default: {
      const CommandEvent event = kind == DeadlineKind::kHeartbeat      ? CommandEvent::kFail
                                 : kind == DeadlineKind::kStartToClose ? CommandEvent::kTimeOut
                                                                       : CommandEvent::kExpire;
      FailLocked(entry, event, TraceEntry::Source::kTracker,
                 DeadlineError(kind, shared_->deadlines, entry.view), now, effects);
    }
  }
  DispatchLocked(target, now, effects);
}

void CommandPartition::EndWaitLocked(CommandWait* wait, Effects& effects) {
  effects.push_back([watcher = wait->watcher] { watcher->OnWaitOver(); });
  deadlines_.Remove(wait);
  auto& waits = wait->entry->waits;
  waits.erase(absl::c_find_if(waits, [wait](const auto& held) { return held.get() == wait; }));
  --shared_->waits;
}

void CommandPartition::EndPollLocked(HeldPoll* poll, std::vector<CommandLease> leases,
                                     Effects& effects) {
  deadlines_.Remove(poll);
  std::unique_ptr<HeldPoll> ended = QueueLocked(poll->target).Release(poll);
  --shared_->waits;
  effects.push_back(
      [callback = std::move(ended->callback), leases = std::move(leases)] { callback(leases); });
}

void CommandPartition::EndAllWaits() {
  Effects effects;
  {
    MutexLock lock(&mutex_);
    for (const auto& [id, entry] : commands_) {
      while (!entry->waits.empty()) EndWaitLocked(entry->waits.back().get(), effects);
    }
    for (const auto& [target, queue] : queues_) {
      while (HeldPoll* poll = queue->AnyPoll()) EndPollLocked(poll, {}, effects);
    }
  }
  Run(effects);
}

void CommandPartition::KeepFailedLocked(CommandEntry& entry, absl::Time now) {
  std::deque<CommandEntry*>& failed = clients_[entry.view.spec->client_id].failed;
  failed.push_back(&entry);
  if (failed.size() <= kFailedRingCapacity) return;
  RemoveLocked(*failed.front(), now);
}

void CommandPartition::RemoveLocked(CommandEntry& entry, absl::Time now) {
  const std::shared_ptr<const CommandSpec> spec = entry.view.spec;
  if (tombstones_.size() < kMaxTombstones) {
    auto tombstone = std::make_unique<CommandTombstone>();
    tombstone->id = spec->id;
    tombstone->client_id = spec->client_id;
    tombstone->ended_as = entry.view.state;
    deadlines_.Set(tombstone.get(), now + shared_->deadlines.tombstone_retention);
    tombstones_.emplace(spec->id, std::move(tombstone));
  }

  SetPayloadLocked(entry.view.result, nullptr);
  SetPayloadLocked(entry.view.context, nullptr);
  SetPayloadLocked(entry.view.late_result, nullptr);
  shared_->payload_bytes -= SizeOf(spec->params);
  --shared_->commands;
  deadlines_.Remove(&entry);
  if (!spec->request_id.empty()) requests_.erase(RequestKey(*spec));
  const auto client = clients_.find(spec->client_id);
  client->second.by_sequence.erase(spec->sequence);
  // Not found where the command completed. Usually at the front.
  std::deque<CommandEntry*>& failed = client->second.failed;
  if (const auto it = absl::c_find(failed, &entry); it != failed.end()) failed.erase(it);
  if (client->second.by_sequence.empty()) clients_.erase(client);
  commands_.erase(spec->id);
}

}  // namespace callslip::tracker
