#include "tracker/domain/queue/command_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

// FNV-1a: unlike absl::Hash it gives the same partition in every process and after every restart.
uint32_t StableHash(absl::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// A page token is the sequence number of the previous page's last command.
absl::StatusOr<uint64_t> SequenceBefore(const std::string& page_token) {
  uint64_t sequence = std::numeric_limits<uint64_t>::max();
  if (!page_token.empty() && !absl::SimpleAtoi(page_token, &sequence)) return InvalidPageToken();
  return sequence;
}

absl::StatusOr<size_t> PageSize(int asked, int most) {
  if (asked < 0) return InvalidField("page_size", "must not be negative");
  return static_cast<size_t>(std::min(asked == 0 ? kDefaultPageSize : asked, most));
}

// NOT_FOUND if the text is not a valid id of a table with this many partitions.
absl::StatusOr<CommandId> IdFrom(const std::string& text, size_t partitions) {
  if (text.empty()) return InvalidField("command_id", "is required");
  const std::optional<CommandId> id = CommandId::Parse(text);
  if (id.has_value() && id->partition() < partitions) return *id;
  // The text goes into a header, whose size is limited.
  std::string shown = text;
  Cut(shown, CommandId::kMaxBytes);
  return CommandNotFound(shown);
}

bool IsDeadLetter(CommandState state) {
  return state == CommandState::kFailed || state == CommandState::kTimedOut ||
         state == CommandState::kExpired;
}

}  // namespace

CommandTable::CommandTable(const CommandDeadlines& deadlines, const CommandLimits& limits,
                           Journal* journal) {
  shared_.journal = journal;
  shared_.table = this;
  shared_.deadlines =
      std::make_shared<const CommandDeadlines>(*deadlines.With(DeadlineOverrides(), false));
  shared_.limits = limits;
  for (int i = 0; i < kPartitions; ++i) {
    partitions_.push_back(std::make_unique<CommandPartition>(static_cast<uint8_t>(i), &shared_));
  }
}

CommandPartition& CommandTable::PartitionOf(absl::string_view target) {
  return *partitions_[StableHash(target) % kPartitions];
}

void CommandTable::Run(CommandEffects& effects, absl::Time now) {
  for (const auto& feed : effects.ready) feed->OnReady();
  for (auto& answer : effects.answers) answer.callback(std::move(answer.news));
  for (const auto& tombstone : effects.dropped) requests_.Forget(tombstone.request, tombstone.id);
  if (listener_ != nullptr && effects.earliest_deadline != absl::InfiniteFuture()) {
    listener_(effects.earliest_deadline);
  }
  if (failure_listener_ != nullptr) {
    for (const CommandPtr& command : effects.failed) failure_listener_(*command);
  }
  for (const CommandPtr& command : effects.ended) end_listener_(*command);
  if (effects.no_leases) RunNoLeasesAction();
  for (const CommandId id : effects.pushed_out) {
    CommandEffects more;
    PartitionOf(id).PushOut(id, now, more);
    Run(more, now);
  }
}

absl::StatusOr<CommandRegistration> CommandTable::Register(CommandRequest&& request,
                                                           absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheck(request, now));
  std::shared_ptr<const CommandDeadlines> deadlines = shared_.deadlines;
  if (request.deadlines != DeadlineOverrides()) {
    const bool human = request.command_class == CommandClass::kHuman;
    ASSIGN_OR_RETURN(CommandDeadlines own, shared_.deadlines->With(request.deadlines, human));
    deadlines = std::make_shared<const CommandDeadlines>(std::move(own));
  }
  CommandEffects effects;
  absl::StatusOr<CommandRegistration> registration =
      RegisterChecked(request, std::move(deadlines), now, effects);
  Run(effects, now);
  return registration;
}

absl::StatusOr<CommandRegistration> CommandTable::RegisterChecked(
    const CommandRequest& request, std::shared_ptr<const CommandDeadlines> deadlines,
    absl::Time now, CommandEffects& effects) {
  CommandPartition& partition = PartitionOf(request.target);
  if (request.request_id.empty()) {
    ASSIGN_OR_RETURN(CommandPtr command,
                     partition.Register(request, std::move(deadlines), now, effects));
    return CommandRegistration{std::move(command), false};
  }
  RequestIndex::Locked slot(requests_, RequestKey::Of(request.client_id, request.request_id));
  if (const std::optional<CommandId> known = slot.Find(); known.has_value()) {
    const auto command = PartitionOf(*known).Get(request.client_id, *known);
    // Ignores another request's command, in case their keys collide.
    if (command.ok() && (*command)->spec->request_id() == request.request_id) {
      if (!(*command)->spec->IsFor(request)) return RequestIdReused(request.request_id);
      return CommandRegistration{*command, true};
    }
    const auto ended_as = PartitionOf(*known).EndOfRemoved(request.client_id, *known);
    if (ended_as.has_value()) {
      return RequestOfRemoved(request.request_id, known->ToString(), *ended_as);
    }
    // Its tombstone was dropped just now: the request_id is free.
  }
  ASSIGN_OR_RETURN(CommandPtr command,
                   partition.Register(request, std::move(deadlines), now, effects));
  slot.Set(command->spec->id);
  return CommandRegistration{std::move(command), false};
}

absl::StatusOr<CommandRegistration> CommandTable::Replay(const ClientScope& clients,
                                                         const std::string& id,
                                                         std::string request_id, absl::Time now) {
  // A repeat is answered even after the origin was removed; but not for a caller that sees all
  // clients, because the owner is no longer known.
  if (const CommandPtr known = FindRequest(clients.client_id(), request_id);
      known != nullptr && known->spec->replay_of() == id) {
    return CommandRegistration{known, true};
  }
  ASSIGN_OR_RETURN(const CommandPtr origin, Get(clients, id, /*peek=*/true));
  if (!IsDeadLetter(origin->state)) return NotADeadLetter(id, origin->state);
  // Only the code that registered the command understands its subject.
  if (!origin->spec->subject().empty()) return NotReplayable(id);
  CommandRequest request = origin->spec->ToRequest();
  request.request_id = std::move(request_id);
  request.replay_of = id;
  return Register(std::move(request), now);
}

CommandPtr CommandTable::FindRequest(const std::string& client_id, const std::string& request_id) {
  if (request_id.empty()) return nullptr;
  RequestIndex::Locked slot(requests_, RequestKey::Of(client_id, request_id));
  const std::optional<CommandId> known = slot.Find();
  if (!known.has_value()) return nullptr;
  return PartitionOf(*known).Get(client_id, *known).value_or(nullptr);
}

absl::StatusOr<CommandPtr> CommandTable::Get(const ClientScope& clients, const std::string& id,
                                             bool peek) {
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  ASSIGN_OR_RETURN(CommandPtr command, PartitionOf(known).Get(clients, known));
  if (!peek && !clients.is_all()) Collect(*command);
  return command;
}

void CommandTable::Collect(const CommandSnapshot& command) {
  if (IsTerminal(command.state)) MarkResultRead(command, shared_.journal);
}

absl::StatusOr<CommandPtr> CommandTable::Find(CommandId id) {
  return PartitionOf(id).Get(ClientScope::All(), id);
}

absl::StatusOr<HeldCommand> CommandTable::HeldBy(const std::string& id) {
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  return PartitionOf(known).HeldBy(known);
}

std::vector<CommandPtr> CommandTable::Newest(const ClientScope& clients,
                                             const CommandFilter& filter, uint64_t before,
                                             int limit) {
  std::vector<CommandPtr> commands;
  const auto add_from = [&](CommandPartition& partition) {
    std::vector<CommandPtr> part = partition.List(clients, filter, before, limit);
    std::move(part.begin(), part.end(), std::back_inserter(commands));
  };
  if (filter.target.empty()) {
    for (const auto& partition : partitions_) add_from(*partition);
  } else {
    add_from(PartitionOf(filter.target));
  }
  absl::c_sort(commands,
               [](const auto& a, const auto& b) { return a->spec->sequence > b->spec->sequence; });
  return commands;
}

absl::StatusOr<CommandPage> CommandTable::List(const ClientScope& clients,
                                               const CommandFilter& filter, int page_size,
                                               const std::string& page_token) {
  ASSIGN_OR_RETURN(const size_t size, PageSize(page_size, kMaxPageSize));
  ASSIGN_OR_RETURN(const uint64_t before, SequenceBefore(page_token));
  // One more than requested, to know whether there is a next page.
  CommandPage page{Newest(clients, filter, before, static_cast<int>(size) + 1), ""};
  if (page.commands.size() > size) {
    page.commands.resize(size);
    page.next_page_token = absl::StrCat(page.commands.back()->spec->sequence);
  }
  return page;
}

absl::StatusOr<CommandPage> CommandTable::ListGroups(const ClientScope& clients,
                                                     const CommandFilter& filter, int page_size) {
  ASSIGN_OR_RETURN(const size_t size, PageSize(page_size, kMaxGroupSize));
  std::array<std::vector<CommandPtr>, 3> groups;
  for (CommandPtr& command :
       Newest(clients, filter, std::numeric_limits<uint64_t>::max(), static_cast<int>(size) + 1)) {
    groups[static_cast<size_t>(GroupOf(command->state))].push_back(std::move(command));
  }
  CommandPage page;
  for (std::vector<CommandPtr>& group : groups) {
    if (group.size() > size) {
      group.resize(size);
      page.next_page_token = "more";
    }
    absl::c_move(group, std::back_inserter(page.commands));
  }
  return page;
}

absl::StatusOr<CommandPtr> CommandTable::Cancel(const ClientScope& clients, const std::string& id,
                                                absl::Time now) {
  CommandError error;
  error.code = "cancelled";
  error.message = "The command was cancelled.";
  return End(clients, id, CommandEvent::kCancel, std::move(error), now);
}

absl::StatusOr<CommandPtr> CommandTable::Expire(const ClientScope& clients, const std::string& id,
                                                CommandError error, absl::Time now) {
  CutError(error, "expired_on_request");
  if (error.message.empty()) error.message = "The command was ended by its client.";
  return End(clients, id, CommandEvent::kExpire, std::move(error), now);
}

absl::StatusOr<CommandPtr> CommandTable::End(const ClientScope& clients, const std::string& id,
                                             CommandEvent event, CommandError error,
                                             absl::Time now) {
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  CommandEffects effects;
  absl::StatusOr<CommandPtr> ended =
      PartitionOf(known).End(clients, known, event, std::move(error), now, effects);
  Run(effects, now);
  return ended;
}

absl::StatusOr<CommandTable::Watching> CommandTable::Watch(const std::string& id,
                                                           WatchRequest request) {
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  CommandEffects effects;
  ASSIGN_OR_RETURN(std::shared_ptr<CommandWatch> watch,
                   PartitionOf(known).Watch(known, request, effects));
  Run(effects, absl::InfinitePast());
  return Watching{.command = std::move(watch)};
}

absl::StatusOr<CommandTable::Watching> CommandTable::WatchAll(FilterWatch watch) {
  RETURN_IF_ERROR(CheckName("client_id", watch.clients.client_id()));
  RETURN_IF_ERROR(CheckName("target", watch.filter.target));
  RETURN_IF_ERROR(CheckName("label", watch.filter.label));
  Watching watching;
  watching.account = watch.clients.is_all() ? shared_.accounts.OfAll()
                                            : shared_.accounts.Of(watch.clients.client_id());
  watch.room = (watch.watcher.empty() ? watching.account : shared_.accounts.OfAll())->feed_room;
  watch.room_limit = shared_.limits.feed_bytes;
  watching.filter = std::make_shared<const FilterWatch>(std::move(watch));
  CommandEffects effects;
  RETURN_IF_ERROR(watching.account->AddFilter(watching.filter, shared_.limits, effects.ready));
  // Drain() ends the filters that it finds, possibly without this one.
  if (draining_ && watching.account->RemoveFilter(watching.filter.get())) return Draining();
  const bool fits =
      watching.filter->only_changes || absl::c_all_of(partitions_, [&](const auto& partition) {
        return partition->PushMatches(*watching.filter, *watching.account, effects);
      });
  Run(effects, absl::InfinitePast());
  if (!fits) {
    Unwatch(watching);
    watching.filter->feed->Drop(watching.filter->watch_id);
    return TooSlow();
  }
  return watching;
}

void CommandTable::Unwatch(const Watching& watching) {
  if (watching.command != nullptr)
    partitions_[watching.command->partition]->Unwatch(*watching.command);
  if (watching.filter != nullptr) watching.account->RemoveFilter(watching.filter.get());
}

absl::StatusOr<std::shared_ptr<HeldCall>> CommandTable::Lease(LeaseRequest request, absl::Time now,
                                                              WorkerCallback callback) {
  for (auto [field, value] : {std::pair("max_commands", &request.max_commands),
                              std::pair("max_unfinished", &request.window)}) {
    if (*value < 0 || *value > kWorkerWindow) {
      return InvalidField(field, absl::StrCat("must be from 0 to ", kWorkerWindow));
    }
    if (*value == 0) *value = kWorkerWindow;
  }
  if (request.back_within < absl::ZeroDuration() || request.back_within > kMaxBackWithin) {
    return InvalidField("back_within",
                        absl::StrCat("must be from 0 to ", absl::FormatDuration(kMaxBackWithin)));
  }
  RETURN_IF_ERROR(CompleteAndCheckWorker(request.target, request.worker_id));
  CommandEffects effects;
  absl::StatusOr<std::shared_ptr<HeldCall>> call =
      PartitionOf(request.target).Lease(request, now, std::move(callback), effects);
  Run(effects, now);
  return call;
}

bool CommandTable::Abandon(const std::shared_ptr<HeldCall>& call, absl::Time now) {
  return call != nullptr && partitions_[call->partition]->Abandon(*call, now);
}

absl::StatusOr<std::shared_ptr<void>> CommandTable::HoldWait(const std::string& client_id) {
  std::shared_ptr<ClientAccount> account = shared_.accounts.Of(client_id);
  RETURN_IF_ERROR(shared_.ReserveWait(*account));
  return std::shared_ptr<void>(account.get(),
                               [this, account](void*) { shared_.FreeWait(*account); });
}

void CommandTable::GiveBack(const CommandLease& lease, absl::Time now) {
  {
    MutexLock lock(&given_back_mutex_);
    given_back_.push_back(lease);
    if (std::exchange(giving_back_, true)) return;
  }
  while (const std::optional<CommandLease> next = NextGivenBack()) {
    CommandEffects effects;
    PartitionOf(next->command->spec->id).GiveBack(*next, now, effects);
    Run(effects, now);
  }
}

std::optional<CommandLease> CommandTable::NextGivenBack() {
  MutexLock lock(&given_back_mutex_);
  giving_back_ = !given_back_.empty();
  if (!giving_back_) return std::nullopt;
  std::optional<CommandLease> next = std::move(given_back_.back());
  given_back_.pop_back();
  return next;
}

absl::StatusOr<AcknowledgeResult> CommandTable::Acknowledge(const std::string& id,
                                                            const LeaseProof& proof,
                                                            std::optional<CommandProgress> progress,
                                                            Payload context, absl::Time now,
                                                            Heartbeats heartbeats) {
  RETURN_IF_ERROR(CheckContext(context));
  std::shared_ptr<const CommandProgress> bounded;
  if (progress.has_value()) {
    Bound(*progress);
    bounded = std::make_shared<const CommandProgress>(*std::move(progress));
  }
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  CommandEffects effects;
  absl::StatusOr<AcknowledgeResult> result = PartitionOf(known).Acknowledge(
      known, proof, std::move(bounded), std::move(context), heartbeats, now, effects);
  Run(effects, now);
  return result;
}

absl::StatusOr<CompleteResult> CommandTable::Complete(const std::string& id,
                                                      const LeaseProof& proof,
                                                      CommandOutcome outcome, Payload context,
                                                      absl::Time now, WorkTime work) {
  RETURN_IF_ERROR(CheckContext(context));
  RETURN_IF_ERROR(CheckAndCut(outcome));
  ASSIGN_OR_RETURN(const CommandId known, IdFrom(id, partitions_.size()));
  CommandEffects effects;
  absl::StatusOr<CompleteResult> result = PartitionOf(known).Complete(
      known, proof, std::move(outcome), std::move(context), work, now, effects);
  Run(effects, now);
  return result;
}

std::vector<WorkerActivity> CommandTable::Activities(const std::string& target) {
  std::vector<WorkerActivity> activities;
  if (!target.empty()) {
    PartitionOf(target).AddActivities(target, activities);
  } else {
    for (const auto& partition : partitions_) partition->AddActivities(target, activities);
  }
  for (WorkerActivity& activity : activities) {
    std::sort(activity.commands.begin(), activity.commands.end(),
              [](const auto& a, const auto& b) { return a->spec->sequence < b->spec->sequence; });
  }
  return activities;
}

std::vector<TargetLoad> CommandTable::Loads(const ClientScope& clients) {
  std::vector<TargetLoad> loads;
  for (const auto& partition : partitions_) partition->AddLoads(clients, loads);
  return loads;
}

void CommandTable::OnNoLeases(std::function<void()> action) {
  {
    MutexLock lock(&no_leases_mutex_);
    on_no_leases_.swap(action);
    has_no_leases_action_ = on_no_leases_ != nullptr;
  }
  if (shared_.leased == 0) RunNoLeasesAction();
}

void CommandTable::RunNoLeasesAction() {
  if (!has_no_leases_action_) return;
  std::function<void()> action;
  {
    MutexLock lock(&no_leases_mutex_);
    action.swap(on_no_leases_);
    has_no_leases_action_ = false;
  }
  if (action != nullptr) action();
}

CommandStatistics CommandTable::Statistics() {
  CommandStatistics all;
  for (const auto& partition : partitions_) all.Add(partition->Statistics());
  return all;
}

absl::Time CommandTable::NextDeadlineTime() {
  absl::Time earliest = absl::InfiniteFuture();
  for (const auto& partition : partitions_) {
    earliest = std::min(earliest, partition->NextDeadlineTime());
  }
  return earliest;
}

void CommandTable::FireDeadlines(absl::Time now) {
  for (const auto& partition : partitions_) {
    for (bool more = true; more;) {
      CommandEffects effects;
      more = partition->FireDeadlines(now, effects);
      Run(effects, now);
    }
  }
}

void CommandTable::Drain() {
  draining_ = true;
  for (const auto& partition : partitions_) {
    CommandEffects effects;
    partition->Drain(effects);
    Run(effects, absl::InfinitePast());
  }
  CommandEffects effects;
  for (const auto& account : shared_.accounts.All()) account->EndFilters(effects.ready);
  Run(effects, absl::InfinitePast());
}

}  // namespace callslip::tracker
