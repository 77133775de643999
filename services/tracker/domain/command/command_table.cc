#include "tracker/domain/command/command_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/ids.h"
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

// A page token is the sequence number of the last command on the page before.
absl::StatusOr<uint64_t> SequenceBefore(const std::string& page_token) {
  uint64_t sequence = std::numeric_limits<uint64_t>::max();
  if (!page_token.empty() && !absl::SimpleAtoi(page_token, &sequence)) return InvalidPageToken();
  return sequence;
}

std::string OrDefault(std::string name, absl::string_view fallback) {
  return name.empty() ? std::string(fallback) : std::move(name);
}

}  // namespace

CommandTable::CommandTable(const CommandDeadlines& deadlines) {
  static_assert(kPartitions <= kMaxPartitions);
  shared_.deadlines = deadlines;
  for (int i = 0; i < kPartitions; ++i) {
    partitions_.push_back(std::make_unique<CommandPartition>(static_cast<uint8_t>(i), &shared_));
  }
}

CommandPartition& CommandTable::PartitionOfTarget(absl::string_view target) {
  return *partitions_[StableHash(target) % kPartitions];
}

absl::StatusOr<CommandPartition*> CommandTable::PartitionOf(const std::string& id) {
  if (id.empty()) return InvalidField("command_id", "is required");
  // Ours have at most 58 bytes. The text goes into a header, which has a limit.
  constexpr size_t kMaxIdBytes = 64;
  if (id.size() > kMaxIdBytes) return CommandNotFound(id.substr(0, kMaxIdBytes));
  const std::optional<uint8_t> index = PartitionOfId(id);
  if (!index.has_value() || *index >= kPartitions) return CommandNotFound(id);
  return partitions_[*index].get();
}

void CommandTable::Rearm(CommandPartition& partition) {
  if (listener_ != nullptr) listener_(partition.NextDeadlineTime());
}

absl::StatusOr<CommandRegistration> CommandTable::Register(CommandSpec spec, absl::Time now) {
  RETURN_IF_ERROR(CompleteAndCheck(spec, shared_.deadlines));
  CommandPartition& partition = PartitionOfTarget(spec.target);
  ASSIGN_OR_RETURN(CommandRegistration registration, partition.Register(std::move(spec), now));
  Rearm(partition);
  return registration;
}

absl::StatusOr<CommandSnapshot> CommandTable::Get(std::string client_id, const std::string& id,
                                                  bool peek) {
  ASSIGN_OR_RETURN(CommandPartition * partition, PartitionOf(id));
  return partition->Get(OrDefault(std::move(client_id), kDefaultClient), id, peek);
}

absl::StatusOr<CommandPage> CommandTable::List(CommandFilter filter, int page_size,
                                               const std::string& page_token) {
  if (page_size < 0) return InvalidField("page_size", "must not be negative");
  if (page_size == 0) page_size = kDefaultPageSize;
  page_size = std::min(page_size, kMaxPageSize);
  filter.client_id = OrDefault(std::move(filter.client_id), kDefaultClient);
  ASSIGN_OR_RETURN(const uint64_t before, SequenceBefore(page_token));

  // One more than asked for, to know whether there is a next page.
  CommandPage page;
  for (const auto& partition : partitions_) {
    std::vector<CommandSnapshot> part = partition->List(filter, before, page_size + 1);
    std::move(part.begin(), part.end(), std::back_inserter(page.commands));
  }
  std::sort(page.commands.begin(), page.commands.end(),
            [](const auto& a, const auto& b) { return a.spec->sequence > b.spec->sequence; });
  if (page.commands.size() > static_cast<size_t>(page_size)) {
    page.commands.resize(page_size);
    page.next_page_token = absl::StrCat(page.commands.back().spec->sequence);
  }
  return page;
}

absl::StatusOr<CommandSnapshot> CommandTable::Cancel(std::string client_id, const std::string& id,
                                                     absl::Time now) {
  ASSIGN_OR_RETURN(CommandPartition * partition, PartitionOf(id));
  ASSIGN_OR_RETURN(CommandSnapshot command,
                   partition->Cancel(OrDefault(std::move(client_id), kDefaultClient), id, now));
  Rearm(*partition);
  return command;
}

absl::Status CommandTable::Watch(std::string client_id, const std::string& id,
                                 int64_t after_revision, absl::Duration max_wait,
                                 std::shared_ptr<CommandWatcher> watcher, absl::Time now) {
  if (max_wait < absl::ZeroDuration() || max_wait > kMaxWait) {
    return InvalidField("max_wait",
                        absl::StrCat("must be from 0 to ", absl::FormatDuration(kMaxWait)));
  }
  if (max_wait == absl::ZeroDuration()) max_wait = kMaxWait;
  ASSIGN_OR_RETURN(CommandPartition * partition, PartitionOf(id));
  RETURN_IF_ERROR(partition->Watch(OrDefault(std::move(client_id), kDefaultClient), id,
                                   after_revision, now + max_wait, std::move(watcher)));
  Rearm(*partition);
  return absl::OkStatus();
}

void CommandTable::Unwatch(const std::string& id, const CommandWatcher* watcher) {
  const auto partition = PartitionOf(id);
  if (partition.ok()) (*partition)->Unwatch(id, watcher);
}

absl::StatusOr<CommandTable::PollHandle> CommandTable::Lease(LeaseRequest request,
                                                             absl::Duration max_wait,
                                                             absl::Time now,
                                                             LeaseCallback callback) {
  if (max_wait < absl::ZeroDuration() || max_wait > kMaxPollWait) {
    return InvalidField("max_wait",
                        absl::StrCat("must be from 0 to ", absl::FormatDuration(kMaxPollWait)));
  }
  if (request.max_commands < 0 || request.max_commands > kWorkerWindow) {
    return InvalidField("max_commands", absl::StrCat("must be from 0 to ", kWorkerWindow));
  }
  if (request.max_commands == 0) request.max_commands = kWorkerWindow;
  request.target = OrDefault(std::move(request.target), kDefaultTarget);
  request.worker_id = OrDefault(std::move(request.worker_id), kDefaultWorker);
  RETURN_IF_ERROR(CheckName("target", request.target));
  RETURN_IF_ERROR(CheckName("worker_id", request.worker_id));
  request.hold_until = now + max_wait;
  CommandPartition& partition = PartitionOfTarget(request.target);
  ASSIGN_OR_RETURN(const uint64_t number, partition.Lease(request, now, std::move(callback)));
  Rearm(partition);
  return PollHandle{request.target, number};
}

bool CommandTable::AbandonPoll(const PollHandle& poll) {
  return poll.number != 0 && PartitionOfTarget(poll.target).AbandonPoll(poll.target, poll.number);
}

void CommandTable::GiveBack(const CommandLease& lease, absl::Time now) {
  CommandPartition& partition = PartitionOfTarget(lease.command.spec->target);
  partition.GiveBack(lease, now);
  Rearm(partition);
}

absl::StatusOr<AcknowledgeResult> CommandTable::Acknowledge(const std::string& id,
                                                            const std::string& lease_token,
                                                            std::optional<CommandProgress> progress,
                                                            Payload context, absl::Time now) {
  RETURN_IF_ERROR(CheckContext(context));
  if (progress.has_value()) Bound(*progress);
  ASSIGN_OR_RETURN(CommandPartition * partition, PartitionOf(id));
  ASSIGN_OR_RETURN(
      const AcknowledgeResult result,
      partition->Acknowledge(id, lease_token, std::move(progress), std::move(context), now));
  Rearm(*partition);
  return result;
}

absl::StatusOr<CompleteResult> CommandTable::Complete(const std::string& id,
                                                      const std::string& lease_token,
                                                      CommandOutcome outcome, Payload context,
                                                      absl::Time now) {
  RETURN_IF_ERROR(CheckContext(context));
  RETURN_IF_ERROR(CheckAndCut(outcome));
  ASSIGN_OR_RETURN(CommandPartition * partition, PartitionOf(id));
  ASSIGN_OR_RETURN(
      const CompleteResult result,
      partition->Complete(id, lease_token, std::move(outcome), std::move(context), now));
  Rearm(*partition);
  return result;
}

absl::Time CommandTable::NextDeadlineTime() {
  absl::Time earliest = absl::InfiniteFuture();
  for (const auto& partition : partitions_) {
    earliest = std::min(earliest, partition->NextDeadlineTime());
  }
  return earliest;
}

void CommandTable::FireDeadlines(absl::Time now) {
  for (const auto& partition : partitions_) partition->FireDeadlines(now);
}

void CommandTable::EndAllWaits() {
  for (const auto& partition : partitions_) partition->EndAllWaits();
}

}  // namespace callslip::tracker
