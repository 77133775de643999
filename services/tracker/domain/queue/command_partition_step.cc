// Consequences of every change of a command, for CommandPartition.
#include "tracker/domain/queue/command_partition_step.h"

#include <algorithm>
#include <utility>

#include "tracker/domain/queue/command_change.h"
#include "tracker/domain/queue/command_partition.h"

namespace callslip::tracker {

CommandPartition::Step::Step(CommandPartition* partition, absl::Time at, CommandEffects& caused)
    : now(at), effects(caused), partition_(partition) {
  partition_->mutex_.Lock();
}

// clang's analysis can't see here that it holds the mutex.
CommandPartition::Step::~Step() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (has_more()) partition_->SettleLocked(*this);
  effects.earliest_deadline = partition_->deadlines_.TakeEarliestSet();
  partition_->mutex_.Unlock();
}

void CommandPartition::SettleLocked(Step& step) {
  while (TargetQueue* queue = std::exchange(step.queue_, nullptr)) DispatchLocked(*queue, step);
  // Before any client can be notified.
  for (CommandEntry* entry : step.touched_) JournalLocked(*entry);
  step.touched_.clear();
  for (const Step::Told& told : step.changes_) {
    TellLocked(*told.entry, told.view == nullptr ? told.entry->view : told.view, step.effects);
  }
  step.changes_.clear();
}

void CommandPartition::JournalLocked(CommandEntry& entry) {
  entry.touched = false;
  CommandRecord record{.command = entry.view,
                       .leases = {entry.leases.begin(), entry.leases.end()},
                       .heartbeats = entry.heartbeat_nanos != CommandEntry::kNoHeartbeats,
                       .end_unreported = entry.queue != nullptr && entry.worker != nullptr &&
                                         IsTerminal(entry.view->state),
                       .end_number = entry.end_number};
  if (entry.worker != nullptr) record.worker = std::string(entry.worker->key);
  if (entry.worker_before != nullptr) record.worker_before = std::string(entry.worker_before->key);
  const bool is_first = !std::exchange(entry.journaled, true);
  shared_->journal->Append({entry.spec().sequence, std::move(record), is_first});
}

void CommandPartition::TellLocked(CommandEntry& entry, const CommandPtr& view,
                                  CommandEffects& effects) {
  entry.client->account->PushToFilters(view, effects.ready);
  shared_->accounts.OfAll()->PushToFilters(view, effects.ready);
  if (entry.watches.empty()) return;
  const bool ended = IsTerminal(view->state);
  for (const CommandWatch& watch : entry.watches) {
    if (watch.only_end && !ended) continue;
    if (watch.feed->Push({watch.watch_id, view, absl::OkStatus(), ended, watch.peek})) {
      effects.ready.push_back(watch.feed);
    }
  }
  if (!ended) return;
  while (!entry.watches.empty()) EndWatchLocked(entry.watches.front());
}

void CommandPartition::CommitLocked(CommandEntry& entry, Change change, Step& step) {
  const CommandPtr before = std::exchange(entry.view, std::move(change.next));
  const CommandSnapshot& view = *entry.view;
  const bool ends = IsTerminal(view.state) && view.state != before->state;
  Count(*entry.client->account, 0, view.payload_bytes() - before->payload_bytes());
  counters_.Changed(*before, view);
  if (entry.queue != nullptr) MoveLocked(entry, before->state, view.state, step);
  entry.client->Moved(entry, before->state);
  RearmLocked(entry);
  step.Changed(entry, before);
  if (ends) entry.end_number = shared_->next_end++;
  if (ends && shared_->hears_ends && !IsTerminal(before->state)) {
    step.effects.ended.push_back(entry.view);
  }
  if (ends && view.state != CommandState::kCompleted) {
    const std::optional<CommandId> oldest = entry.client->account->KeepEnded(
        entry.spec().id, view.state == CommandState::kCancelled, shared_->limits.failed_of_client);
    if (oldest.has_value()) step.effects.pushed_out.push_back(*oldest);
    if (view.state != CommandState::kCancelled) step.effects.failed.push_back(entry.view);
  }
  if (ends && entry.queue != nullptr && !IsTerminal(before->state)) {
    LeaveWorkerLocked(entry, !change.by_holder, step);
  }
}

void CommandPartition::MoveLocked(CommandEntry& entry, CommandState from, CommandState to,
                                  Step& step) {
  Backlog& backlog = entry.queue->backlog;
  const bool was_queued = from == CommandState::kQueued;
  const bool is_queued = to == CommandState::kQueued;
  if (was_queued && !is_queued) {
    if (to == CommandState::kDelivered) {
      backlog.Take(&entry);
    } else {
      backlog.Remove(&entry);
    }
    backlog.Dismiss(&entry);
    entry.delayed = false;
  }
  if (!IsHeld(from) && IsHeld(to)) {
    entry.queue->workers.OccupyPlace(&entry);
    ++shared_->leased;
  }
  if (IsHeld(from) && !IsHeld(to)) {
    entry.queue->workers.FreePlace(&entry);
    step.effects.no_leases = --shared_->leased == 0;
  }
  // A worker of an earlier delivery may be executing although the command is queued again.
  backlog.SetHoldsKey(&entry, !IsTerminal(to) && entry.view->attempt > 0);
  if (!was_queued && is_queued) {
    backlog.Admit(&entry, backlog.TurnOf(entry.spec().client_id()));
    backlog.Add(&entry);
  }
  // A command waits, or a place or a key became free.
  if (!IsHeld(to)) step.Dispatch(entry.queue);
}

void CommandPartition::RearmLocked(CommandEntry& entry) {
  CommandDeadline next = NextDeadline(*entry.view, entry.heartbeat_nanos, entry.delayed);
  if (entry.spec().sequence < restored_below_ && next.kind != DeadlineKind::kNotBefore &&
      next.at_nanos < grace_.until_nanos) {
    next.at_nanos = std::min(grace_.until_nanos, next.at_nanos + grace_.by_at_most_nanos);
  }
  deadlines_.Set(&entry, next.at_nanos);
}

}  // namespace callslip::tracker
