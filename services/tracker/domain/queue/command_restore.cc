// Restores a command table from its journal.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "common/status_macros.h"
#include "tracker/domain/queue/command_partition.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {
namespace {

// The command with no time after `now`. A command that is ahead, because the clock was set back, is
// moved back with all of its times. So is its stored registration time, if its trace was moved at
// an earlier restart.
CommandPtr InTime(CommandPtr command, absl::Time now) {
  const absl::Duration moved =
      command->spec->register_time - absl::FromUnixNanos(command->trace.front().unix_nanos);
  const absl::Duration ahead =
      std::max(absl::FromUnixNanos(command->trace.back().unix_nanos) - now, absl::ZeroDuration());
  if (moved == absl::ZeroDuration() && ahead == absl::ZeroDuration()) return command;
  auto earlier = std::make_shared<CommandSnapshot>(*command);
  earlier->spec = command->spec->Earlier(moved + ahead);
  for (TraceEntry& entry : earlier->trace) entry.unix_nanos -= absl::ToInt64Nanoseconds(ahead);
  return earlier;
}

// The same for the time when a drawing was submitted.
void BringInTime(JournalEntry& entry, absl::Time now) {
  if (auto* record = std::get_if<DrawingRecord>(&entry.change)) {
    if (record->drawing->append_time <= now) return;
    Drawing earlier = *record->drawing;
    earlier.append_time = now;
    record->drawing = std::make_shared<const Drawing>(std::move(earlier));
  } else if (auto* answer = std::get_if<DrawingAnswer>(&entry.change)) {
    answer->append_time = std::min(answer->append_time, now);
  }
}

}  // namespace

absl::Status CommandTable::Restore(JournalStorage& storage, absl::Time now,
                                   const std::function<void(JournalEntry)>& others) {
  // Nearly all commands share the default deadlines.
  const auto clocks_of = [this](const DeadlineOverrides& overrides, CommandClass command_class) {
    if (overrides == DeadlineOverrides()) return shared_.deadlines;
    return std::make_shared<const CommandDeadlines>(
        shared_.deadlines->WithUnchecked(overrides, command_class == CommandClass::kHuman));
  };
  ASSIGN_OR_RETURN(const JournalStorage::Summary summary, storage.Summarize());
  shared_.next_sequence = summary.last_sequence + 1;
  const absl::Duration grace = shared_.deadlines->restart_grace;
  const absl::Duration down =
      std::max(now - absl::FromUnixNanos(summary.latest_nanos), absl::ZeroDuration());
  RestartGrace put_off;
  if (grace > absl::ZeroDuration()) {
    put_off = {.until_nanos = NanosOf(now + grace),
               .by_at_most_nanos = absl::ToInt64Nanoseconds(down + grace)};
  }

  // The ends in their order, for the rings; sorted below.
  struct End {
    uint64_t number;
    CommandPtr command;
  };
  std::vector<End> ends;
  CommandEffects effects;
  RETURN_IF_ERROR(storage.Replay(clocks_of, [&](JournalEntry entry) {
    if (auto* record = std::get_if<CommandRecord>(&entry.change)) {
      record->command = InTime(std::move(record->command), now);
      const CommandSnapshot& command = *record->command;
      if (record->end_number > 0 && command.state != CommandState::kCompleted) {
        ends.push_back({record->end_number, record->command});
      }
      shared_.next_end = std::max(shared_.next_end.load(), record->end_number + 1);
      if (!command.spec->request_id().empty()) {
        const auto request = RequestKey::Of(command.spec->client_id(), command.spec->request_id());
        RequestIndex::Locked(requests_, request).Set(command.spec->id);
      }
      PartitionOf(command.spec->id).Restore(std::move(*record), put_off, now);
    } else if (auto* removal = std::get_if<CommandRemoval>(&entry.change)) {
      shared_.next_end = std::max(shared_.next_end.load(), removal->number + 1);
      removal->until_nanos = std::min(removal->until_nanos,
                                      NanosOf(now) + shared_.deadlines->nanos.tombstone_retention);
      if (absl::FromUnixNanos(removal->until_nanos) > now) {
        if (removal->request_hash != 0) {
          RequestIndex::Locked slot(requests_,
                                    RequestKey::OfHash(removal->client_id, removal->request_hash));
          if (!slot.Find().has_value()) slot.Set(removal->id);
        }
        PartitionOf(removal->id).Restore(*removal, effects);
      }
    } else if (others != nullptr) {
      BringInTime(entry, now);
      others(std::move(entry));
    }
  }));
  absl::c_sort(ends, [](const End& a, const End& b) { return a.number < b.number; });
  for (const End& end : ends) {
    const auto account = shared_.accounts.Of(end.command->spec->client_id());
    const auto oldest =
        account->KeepEnded(end.command->spec->id, end.command->state == CommandState::kCancelled,
                           shared_.limits.failed_of_client);
    if (oldest.has_value()) effects.pushed_out.push_back(*oldest);
  }
  Run(effects, now);
  if (shared_.journal != nullptr) shared_.journal->Append({0, tracker::Restart{now}});
  return absl::OkStatus();
}

std::vector<CommandPtr> CommandTable::UnfinishedOfPeople() {
  std::vector<CommandPtr> commands;
  for (const auto& partition : partitions_) partition->AddUnfinishedOfPeople(commands);
  absl::c_sort(commands,
               [](const auto& a, const auto& b) { return a->spec->sequence < b->spec->sequence; });
  return commands;
}

void CommandPartition::AddUnfinishedOfPeople(std::vector<CommandPtr>& commands) {
  MutexLock lock(&mutex_);
  for (const auto& [name, client] : clients_) {
    for (const CommandEntry& entry : client->unfinished()) {
      if (entry.spec().command_class == CommandClass::kHuman) commands.push_back(entry.view);
    }
  }
}

void CommandPartition::Restore(CommandRecord record, const RestartGrace& grace, absl::Time now) {
  MutexLock lock(&mutex_);
  const CommandSpec& spec = *record.command->spec;
  restored_below_ = spec.sequence + 1;
  grace_ = grace;

  std::unique_ptr<CommandEntry>& place = commands_[spec.id.key()];
  place = NewEntryLocked();
  CommandEntry& entry = *place;
  entry.view = std::move(record.command);
  entry.client = ClientLocked(spec.client_id());
  entry.client->Add(entry);
  counters_.Restored(entry.view->state);
  Count(*entry.client->account, 1, entry.view->payload_bytes());
  entry.leases.assign(record.leases.begin(), record.leases.end());
  entry.end_number = record.end_number;
  entry.journaled = true;
  // Reports that its worker sent meanwhile were lost.
  entry.heartbeat_nanos = record.heartbeats ? NanosOf(now) : CommandEntry::kNoHeartbeats;
  if (spec.command_class == CommandClass::kStandard) PlaceRestoredLocked(entry, record, now);
  RearmLocked(entry);
}

void CommandPartition::PlaceRestoredLocked(CommandEntry& entry, const CommandRecord& record,
                                           absl::Time now) {
  const CommandState state = entry.view->state;
  const bool ended = IsTerminal(state);
  if (ended && !record.end_unreported) return;
  TargetQueue* queue = QueueLocked(std::string(entry.spec().target()), now);
  entry.queue = queue;
  for (const std::string& worker : {record.worker_before, record.worker}) {
    if (!worker.empty()) queue->workers.Attach(&entry, queue->workers.Find(worker, now));
  }
  if (ended) {
    entry.worker->ended.push_back(entry);
    return;
  }
  queue->backlog.SetHoldsKey(&entry, entry.view->attempt > 0);
  if (IsHeld(state)) {
    queue->workers.OccupyPlace(&entry);
    ++shared_->leased;
  }
  if (state != CommandState::kQueued) return;
  queue->backlog.Admit(&entry, queue->backlog.TurnOf(entry.spec().client_id()));
  entry.delayed = entry.spec().not_before > now;
  if (!entry.delayed) queue->backlog.Add(&entry);
}

void CommandPartition::Restore(const CommandRemoval& removal, CommandEffects& effects) {
  MutexLock lock(&mutex_);
  const RequestKey request = RequestKey::OfHash(removal.client_id, removal.request_hash);
  tombstones_.Add(removal.id, {request, removal.ended_as}, removal.until_nanos,
                  shared_->limits.tombstones, effects.dropped);
  deadlines_.Set(&tombstone_timer_, tombstones_.NextDrop());
}

}  // namespace callslip::tracker
