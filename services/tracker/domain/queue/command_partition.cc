// The clients' side of CommandPartition. The workers' side is in command_partition_workers.cc,
// deadlines and removal are in command_partition_deadlines.cc, and the consequences of every change
// are in command_partition_step.cc.
#include "tracker/domain/queue/command_partition.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/queue/command_change.h"
#include "tracker/domain/queue/command_partition_step.h"

namespace callslip::tracker {

CommandPartition::~CommandPartition() {
  // Watches and held calls own themselves.
  CommandEffects nobody_is_told;
  Drain(nobody_is_told);
}

CommandEntry* CommandPartition::EntryLocked(const CommandId& id) {
  const auto it = commands_.find(id.key());
  return it != commands_.end() && it->second->spec().id == id ? it->second.get() : nullptr;
}

absl::StatusOr<CommandEntry*> CommandPartition::FindLocked(const ClientScope& clients,
                                                           CommandId id) {
  if (CommandEntry* entry = EntryLocked(id); entry != nullptr) {
    if (!clients.Covers(entry->spec().client_id())) return CommandNotFound(id.ToString());
    return entry;
  }
  const Tombstones::Tombstone* tombstone = tombstones_.Find(id);
  if (tombstone == nullptr || !tombstone->IsOf(clients)) return CommandNotFound(id.ToString());
  return CommandRemoved(id.ToString(), tombstone->ended_as);
}

std::optional<CommandState> CommandPartition::EndOfRemoved(const ClientScope& clients,
                                                           CommandId id) {
  MutexLock lock(&mutex_);
  const Tombstones::Tombstone* tombstone = tombstones_.Find(id);
  if (tombstone == nullptr || !tombstone->IsOf(clients)) return std::nullopt;
  return tombstone->ended_as;
}

PartitionClient* CommandPartition::ClientLocked(absl::string_view client_id) {
  if (const auto it = clients_.find(client_id); it != clients_.end()) return it->second.get();
  client_pruning_.BeforeAdding(clients_, [](const auto& client) { return client->empty(); });
  auto client = std::make_unique<PartitionClient>(shared_->accounts.Of(client_id));
  return clients_.emplace(client_id, std::move(client)).first->second.get();
}

TargetQueue* CommandPartition::QueueLocked(const std::string& target, absl::Time now) {
  if (const auto it = queues_.find(target); it != queues_.end()) return it->second.get();
  const bool crowded = queues_.size() >= kMaxSuspendedWorkers;
  queue_pruning_.BeforeAdding(queues_, [&](const auto& queue) {
    return queue->IsUnused() && (crowded || queue->workers.BackBy() <= now);
  });
  return queues_.emplace(target, std::make_unique<TargetQueue>()).first->second.get();
}

void CommandPartition::Count(ClientAccount& account, int64_t commands, int64_t bytes) {
  if (commands == 0 && bytes == 0) return;
  shared_->usage.Add(commands, bytes);
  account.usage.Add(commands, bytes);
}

absl::Status CommandTableShared::ReserveWait(ClientAccount& account) {
  if (waits >= limits.waits) return TooManyWaits(limits.waits, false);
  const bool is_of_client = !account.client_id().empty();
  if (is_of_client && account.waits >= limits.waits_of_client) {
    return TooManyWaits(limits.waits_of_client, true);
  }
  ++account.waits;
  ++waits;
  return absl::OkStatus();
}

void CommandTableShared::FreeWait(ClientAccount& account) {
  --waits;
  --account.waits;
}

absl::Status CommandPartition::CheckRoomLocked(const CommandRequest& request,
                                               const ClientAccount& account,
                                               const TargetQueue* queue, const BacklogTurn* turn) {
  const CommandLimits& limits = shared_->limits;
  if (queue != nullptr) {
    if (turn->depth >= limits.queued_of_client) return QueueFull(request.target, turn->depth, true);
    const int64_t depth = queue->backlog.depth();
    if (depth >= limits.queued) return QueueFull(request.target, depth, false);
  }
  const auto bytes = static_cast<int64_t>(request.params->size() + request.baggage.size());
  const Usage& all = shared_->usage;
  const Usage& own = account.usage;
  if (all.commands() >= limits.commands) return TooManyCommands(limits.commands, false);
  if (own.commands() >= limits.commands_of_client) {
    return TooManyCommands(limits.commands_of_client, true);
  }
  if (all.bytes() + bytes > limits.payload_bytes) {
    return TooManyBytes(limits.payload_bytes, false);
  }
  if (own.bytes() + bytes > limits.payload_bytes_of_client) {
    return TooManyBytes(limits.payload_bytes_of_client, true);
  }
  return absl::OkStatus();
}

std::unique_ptr<CommandEntry> CommandPartition::NewEntryLocked() {
  if (spare_entries_.empty()) return std::make_unique<CommandEntry>();
  std::unique_ptr<CommandEntry> entry = std::move(spare_entries_.back());
  spare_entries_.pop_back();
  std::destroy_at(entry.get());
  std::construct_at(entry.get());
  return entry;
}

absl::StatusOr<CommandPtr> CommandPartition::Register(
    const CommandRequest& request, std::shared_ptr<const CommandDeadlines> deadlines,
    absl::Time now, CommandEffects& effects) {
  const bool human = request.command_class == CommandClass::kHuman;
  CommandId id = CommandId::New(now, human, index_);
  Step step(this, now, effects);
  // Its place in a large table is not in the cache: fetch it before it is needed.
  commands_.prefetch(id.key());
  if (draining_) return Draining();
  if (shared_->journal != nullptr && !shared_->journal->accepts_commands()) {
    return StorageUnavailable();
  }
  PartitionClient* client = ClientLocked(request.client_id);
  TargetQueue* queue = human ? nullptr : QueueLocked(request.target, now);
  BacklogTurn* turn = human ? nullptr : queue->backlog.TurnOf(request.client_id);
  RETURN_IF_ERROR(CheckRoomLocked(request, *client->account, queue, turn));

  auto place = commands_.try_emplace(id.key());
  while (!place.second) {
    id = CommandId::New(now, human, index_);
    place = commands_.try_emplace(id.key());
  }
  CommandEntry* entry = (place.first->second = NewEntryLocked()).get();
  auto view = std::make_shared<CommandSnapshot>();
  view->spec = std::make_shared<const CommandSpec>(id, request, now, shared_->next_sequence++,
                                                   std::move(deadlines));
  AddTrace(*view, TraceEntry::Stage::kQueued, TraceEntry::Source::kClient, now);
  Count(*client->account, 1, view->payload_bytes());
  counters_.Registered();
  const CommandPtr registered = view;

  entry->view = std::move(view);
  entry->client = client;
  client->Add(*entry);
  entry->queue = queue;
  if (queue != nullptr) {
    queue->backlog.Admit(entry, turn);
    entry->delayed = entry->spec().not_before > now;
    if (!entry->delayed) queue->backlog.Add(entry);
    step.Dispatch(queue);
  }
  RearmLocked(*entry);
  step.Changed(*entry, nullptr);
  return registered;
}

absl::StatusOr<CommandPtr> CommandPartition::Get(const ClientScope& clients, CommandId id) {
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(clients, id));
  return entry->view;
}

absl::StatusOr<HeldCommand> CommandPartition::HeldBy(CommandId id) {
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(ClientScope::All(), id));
  const bool is_held = entry->worker != nullptr && IsHeld(entry->view->state);
  return HeldCommand{entry->view, is_held ? *entry->worker->name : ""};
}

std::vector<CommandPtr> CommandPartition::List(const ClientScope& clients,
                                               const CommandFilter& filter,
                                               uint64_t before_sequence, int limit) {
  std::vector<CommandPtr> page;
  MutexLock lock(&mutex_);
  ForEachClientLocked(clients, [&](const PartitionClient& client) {
    ListLocked(client, filter, before_sequence, limit, page);
    return true;
  });
  return page;
}

void CommandPartition::ListLocked(const PartitionClient& client, const CommandFilter& filter,
                                  uint64_t before_sequence, int limit,
                                  std::vector<CommandPtr>& page) {
  client.TakeNewest(filter, before_sequence, limit, [&](const CommandEntry& entry) {
    const bool matches = filter.Matches(*entry.view);
    if (matches) page.push_back(entry.view);
    return matches;
  });
}

template <typename Visit>
bool CommandPartition::ForEachClientLocked(const ClientScope& clients, Visit visit) {
  if (clients.is_all()) {
    return absl::c_all_of(clients_, [&](const auto& client) { return visit(*client.second); });
  }
  const auto client = clients_.find(clients.client_id());
  return client == clients_.end() || visit(*client->second);
}

absl::StatusOr<CommandPtr> CommandPartition::End(const ClientScope& clients, CommandId id,
                                                 CommandEvent event, CommandError error,
                                                 absl::Time now, CommandEffects& effects) {
  Step step(this, now, effects);
  ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(clients, id));
  const CommandState state = entry->view->state;
  if (IsTerminal(state)) {
    // A repeat of the call that ended it.
    const bool same = NextState(CommandState::kQueued, event) == state &&
                      (state == CommandState::kCancelled || entry->view->error->code == error.code);
    if (same) return entry->view;
    return CommandAlreadyEnded(id.ToString(), state);
  }
  error.may_have_executed = entry->view->attempt > 0 || state == CommandState::kRunning;
  if (error.may_have_executed && error.hint.empty()) {
    error.hint = "A worker had it already: look at the page for what it has done.";
  }
  Change change(*entry);
  change.Step(event, TraceEntry::Source::kClient, now);
  change.next->error = std::make_shared<const CommandError>(std::move(error));
  CommitLocked(*entry, std::move(change), step);
  return entry->view;
}

absl::StatusOr<std::shared_ptr<CommandWatch>> CommandPartition::Watch(CommandId id,
                                                                      const WatchRequest& request,
                                                                      CommandEffects& effects) {
  Step step(this, absl::InfinitePast(), effects);
  if (draining_) return Draining();
  ASSIGN_OR_RETURN(CommandEntry * entry, FindLocked(request.clients, id));
  request.feed->SetTable(shared_->table);
  const bool terminal = IsTerminal(entry->view->state);
  std::shared_ptr<CommandWatch> watch;
  if (!terminal) {
    RETURN_IF_ERROR(shared_->ReserveWait(*entry->client->account));
    watch = std::make_shared<CommandWatch>();
    watch->entry = entry;
    watch->partition = index_;
    watch->self = watch;
    watch->feed = request.feed;
    watch->watch_id = request.watch_id;
    watch->only_end = request.only_end;
    watch->peek = request.clients.is_all();
    entry->watches.push_back(*watch);
    deadlines_.Set(watch.get(), request.until);
  }
  // An ended command is always pushed: its watcher waits for the end.
  const bool news = !request.only_end && entry->view->revision > request.after_revision;
  if ((terminal || news) &&
      request.feed->Push({request.watch_id, entry->view, absl::OkStatus(), terminal,
                          /*peek=*/request.clients.is_all()})) {
    effects.ready.push_back(request.feed);
  }
  return watch;
}

void CommandPartition::Unwatch(CommandWatch& watch) {
  MutexLock lock(&mutex_);
  if (watch.entry != nullptr) EndWatchLocked(watch);
}

void CommandPartition::EndWatchLocked(CommandWatch& watch) {
  deadlines_.Remove(&watch);
  CommandEntry* entry = std::exchange(watch.entry, nullptr);
  entry->watches.erase(entry->watches.iterator_to(watch));
  shared_->FreeWait(*entry->client->account);
  // The watch may be gone after this.
  const std::shared_ptr<CommandWatch> last_hold = std::move(watch.self);
}

bool CommandPartition::PushMatches(const FilterWatch& watch, ClientAccount& account,
                                   CommandEffects& effects) {
  MutexLock lock(&mutex_);
  return ForEachClientLocked(watch.clients, [&](const PartitionClient& client) {
    return client.ForEach(watch.filter, [&](const CommandEntry& entry) {
      return account.PushToFilter(watch, entry.view, effects.ready);
    });
  });
}

CommandStatistics CommandPartition::Statistics() {
  MutexLock lock(&mutex_);
  CommandStatistics now = counters_.statistics();
  for (const auto& [target, queue] : queues_) {
    const int64_t depth = queue->backlog.depth();
    if (depth == 0) continue;
    now.queued += depth;
    ++now.targets;
    now.longest_queue = std::max(now.longest_queue, depth);
  }
  for (const auto& [name, client] : clients_) {
    const auto oldest = absl::c_find_if(client->unfinished(), [](const CommandEntry& entry) {
      return entry.turn != nullptr && !entry.delayed;
    });
    if (oldest == client->unfinished().end()) continue;
    now.AddQueued(absl::ToUnixNanos(oldest->spec().ready_time()));
  }
  return now;
}

void CommandPartition::Drain(CommandEffects& effects) {
  Step step(this, absl::InfinitePast(), effects);
  draining_ = true;
  for (const auto& [key, entry] : commands_) {
    while (!entry->watches.empty()) {
      CommandWatch& watch = entry->watches.front();
      if (watch.feed->Push({watch.watch_id, nullptr, absl::OkStatus(), true})) {
        effects.ready.push_back(watch.feed);
      }
      EndWatchLocked(watch);
    }
  }
  for (const auto& [target, queue] : queues_) {
    for (HeldCall* call : queue->workers.HeldCalls()) {
      EndCallLocked(call, {}, step);
    }
  }
}

}  // namespace callslip::tracker
