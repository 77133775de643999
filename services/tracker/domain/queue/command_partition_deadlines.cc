#include <algorithm>
#include <string>
#include <utility>

#include "tracker/domain/queue/command_change.h"
#include "tracker/domain/queue/command_partition.h"
#include "tracker/domain/queue/command_partition_step.h"

namespace callslip::tracker {

absl::Time CommandPartition::NextDeadlineTime() {
  MutexLock lock(&mutex_);
  return deadlines_.NextAdvance();
}

bool CommandPartition::FireDeadlines(absl::Time now, CommandEffects& effects) {
  // Takes some hundred microseconds.
  constexpr int kMaxAtOnce = 500;
  Timed* timed = nullptr;
  {
    Step step(this, now, effects);
    deadlines_.Advance(now);
    for (int i = 0; i < kMaxAtOnce && (timed = deadlines_.PopDue()) != nullptr; ++i) {
      FireLocked(*timed, step);
      // The next deadline may remove a command that this one ended.
      if (step.has_more()) SettleLocked(step);
    }
    for (TargetQueue* queue : step.later_) {
      step.Dispatch(queue);
      SettleLocked(step);
    }
  }
  // The caller asks for the next deadline itself.
  effects.earliest_deadline = absl::InfiniteFuture();
  return timed != nullptr;
}

void CommandPartition::FireLocked(Timed& timed, Step& step) {
  switch (timed.kind) {
    case Timed::Kind::kCommand:
      counters_.DeadlineFired(timed.due_nanos(), NanosOf(step.now));
      FireCommandLocked(static_cast<CommandEntry&>(timed), step);
      return;
    case Timed::Kind::kHeldCall: EndCallLocked(&static_cast<HeldCall&>(timed), {}, step); return;
    case Timed::Kind::kWatch: {
      auto& watch = static_cast<CommandWatch&>(timed);
      if (watch.feed->Push({watch.watch_id, nullptr, absl::OkStatus(), true})) {
        step.effects.ready.push_back(watch.feed);
      }
      EndWatchLocked(watch);
      return;
    }
    case Timed::Kind::kTombstones:
      tombstones_.Drop(NanosOf(step.now), step.effects.dropped);
      deadlines_.Set(&tombstone_timer_, tombstones_.NextDrop());
      return;
  }
}

void CommandPartition::FireCommandLocked(CommandEntry& entry, Step& step) {
  const absl::Time now = step.now;
  const DeadlineKind due = NextDeadline(*entry.view, entry.heartbeat_nanos, entry.delayed).kind;
  TargetQueue* queue = entry.queue;
  CommandEvent event = CommandEvent::kExpire;
  switch (due) {
    case DeadlineKind::kNotBefore:
      entry.delayed = false;
      queue->backlog.Add(&entry);
      RearmLocked(entry);
      step.DispatchLater(queue);
      return;
    case DeadlineKind::kFailedRetention: RemoveLocked(entry, step); return;
    case DeadlineKind::kResultRetention:
      if (entry.spec().is_read()) {
        RemoveLocked(entry, step);
        return;
      }
      event = CommandEvent::kForgetResult;
      break;
    case DeadlineKind::kAckWait:
      if (entry.spec().idempotent && entry.view->attempt < kMaxAttempts) {
        Change change(entry);
        change.Step(CommandEvent::kReturnToQueue, TraceEntry::Source::kTracker, now);
        CommitLocked(entry, std::move(change), step);
        return;
      }
      break;
    case DeadlineKind::kHeartbeat: event = CommandEvent::kFail; break;
    case DeadlineKind::kStartToClose: event = CommandEvent::kTimeOut; break;
    case DeadlineKind::kNeverDelivered:
      if (AwaitWorkersLocked(entry, now)) return;
      break;
    case DeadlineKind::kScheduleToClose:
    case DeadlineKind::kUserDidNotFinish: break;
  }
  const bool polled = queue != nullptr && (queue->last_poll >= entry.spec().register_time ||
                                           queue->workers.has_calls());
  Change change(entry);
  change.Step(event, TraceEntry::Source::kTracker, now);
  change.next->result = nullptr;
  change.next->error =
      std::make_shared<const CommandError>(DeadlineError(due, *entry.view, polled, now));
  CommitLocked(entry, std::move(change), step);
}

bool CommandPartition::AwaitWorkersLocked(CommandEntry& entry, absl::Time now) {
  if (draining_) return false;  // A worker that returns gets no command.
  const CommandSpec& spec = entry.spec();
  const absl::Time until =
      std::min(entry.queue->workers.BackBy(spec.client_id()), LatestStart(spec));
  if (until <= now) return false;
  deadlines_.Set(&entry, until);
  return true;
}

void CommandPartition::PushOut(CommandId id, absl::Time now, CommandEffects& effects) {
  Step step(this, now, effects);
  if (CommandEntry* entry = EntryLocked(id); entry != nullptr) RemoveLocked(*entry, step);
}

void CommandPartition::RemoveLocked(CommandEntry& entry, Step& step) {
  // Its place in a large table is not in the cache: fetch it before it is needed.
  commands_.prefetch(entry.spec().id.key());
  const std::shared_ptr<const CommandSpec> spec = entry.view->spec;
  const int64_t until_nanos = NanosOf(step.now) + shared_->deadlines->nanos.tombstone_retention;
  const RequestKey request = RequestKey::Of(spec->client_id(), spec->request_id());
  tombstones_.Add(spec->id, {request, entry.view->state}, until_nanos, shared_->limits.tombstones,
                  step.effects.dropped);
  deadlines_.Set(&tombstone_timer_, tombstones_.NextDrop());
  if (shared_->journal != nullptr) {
    shared_->journal->Append(
        {spec->sequence, CommandRemoval{.id = spec->id,
                                        .client_id = std::string(spec->client_id()),
                                        .ended_as = entry.view->state,
                                        .request_hash = request.request,
                                        .remove_nanos = NanosOf(step.now),
                                        .until_nanos = until_nanos,
                                        .number = shared_->next_end++}});
  }

  entry.client->account->PushToFilters(entry.view, step.effects.ready, /*removed=*/true);
  shared_->accounts.OfAll()->PushToFilters(entry.view, step.effects.ready, /*removed=*/true);
  deadlines_.Remove(&entry);
  if (entry.queue != nullptr) {
    // Its worker was never notified of its end.
    entry.worker->ended.erase(entry.worker->ended.iterator_to(entry));
    entry.queue->workers.Detach(&entry);
  }
  PartitionClient* client = entry.client;
  counters_.Removed(entry.view->state);
  Count(*client->account, -1, -entry.view->payload_bytes());
  client->Remove(entry, entry.view->state);
  const auto place = commands_.find(spec->id.key());
  entry.view = nullptr;
  if (spare_entries_.size() < kMaxSpareEntries) spare_entries_.push_back(std::move(place->second));
  commands_.erase(place);
}

}  // namespace callslip::tracker
