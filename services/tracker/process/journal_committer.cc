#include "tracker/process/journal_committer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

// The outputs that the calling thread has collected in a batch of `of`.
struct Batch {
  const JournalCommitter* of = nullptr;
  std::vector<OutputGate::Output> outputs;
};
thread_local Batch batch;

void Release(const std::vector<OutputGate::Output>& outputs, const absl::Status& kept) {
  for (const OutputGate::Output& output : outputs) output(kept);
}

}  // namespace

JournalCommitter::JournalCommitter(Clock* clock, Journal* journal, JournalStorage* storage,
                                   Where where)
    : clock_(clock),
      journal_(journal),
      storage_(storage),
      where_(where),
      sleeper_(clock->NewSleeper()),
      committed_(0) {
  journal_->SetListener([this] {
    // Within a batch, EndBatch() commits.
    if (batch.of != this) sleeper_->Wake();
  });
  thread_ = std::thread([this] { Run(); });
}

JournalCommitter::~JournalCommitter() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
  }
  sleeper_->Wake();
  thread_.join();
  journal_->SetListener(nullptr);
}

void JournalCommitter::Pass(Output output) {
  if (IsOpen()) return output(absl::OkStatus());
  if (Hangs()) RefuseAll();
  if (failing_) return output(StorageUnavailable());
  if (batch.of == this) {
    batch.outputs.push_back(std::move(output));
    return;
  }
  Outputs outputs;
  outputs.push_back(std::move(output));
  LeaveToThread(std::move(outputs));
}

void JournalCommitter::BeginBatch() { batch.of = this; }

void JournalCommitter::EndBatch() {
  batch.of = nullptr;
  if (batch.outputs.empty() && IsOpen()) return;
  Outputs outputs = std::exchange(batch.outputs, {});
  if (where_ == Where::kOnCaller && !failing_ && commit_mutex_.TryLock()) {
    BeginAppend(std::move(outputs));
    const std::optional<absl::Status> kept = CommitLocked(/*stopping=*/false);
    outputs = EndAppend();
    commit_mutex_.Unlock();
    if (kept.has_value()) {
      if (!kept->ok()) sleeper_->Wake();
      return Release(outputs, *kept);
    }
  }
  LeaveToThread(std::move(outputs));
}

void JournalCommitter::LeaveToThread(Outputs outputs) {
  {
    MutexLock lock(&mutex_);
    left_.insert(left_.end(), std::make_move_iterator(outputs.begin()),
                 std::make_move_iterator(outputs.end()));
    if (!left_.empty() && left_.size() < enough_) return;
  }
  sleeper_->Wake();
  // The storage was found to hang while these were added.
  if (failing_ && Hangs()) RefuseAll();
}

size_t JournalCommitter::BeginAppend(Outputs outputs) {
  MutexLock lock(&mutex_);
  under_way_ = std::move(outputs);
  under_way_.insert(under_way_.end(), std::make_move_iterator(left_.begin()),
                    std::make_move_iterator(left_.end()));
  left_.clear();
  return under_way_.size();
}

JournalCommitter::Outputs JournalCommitter::EndAppend() {
  MutexLock lock(&mutex_);
  return std::exchange(under_way_, {});
}

bool JournalCommitter::Gather() {
  const size_t wanted = where_ == Where::kOnThread ? last_outputs_ / 2 : 0;
  const absl::Time until = clock_->Now() + std::min(last_append_, kMaxGatheringTime);
  while (true) {
    {
      MutexLock lock(&mutex_);
      const bool is_enough = left_.size() >= wanted || clock_->Now() >= until || stop_;
      enough_ = is_enough ? 1 : wanted;
      if (is_enough) return stop_;
    }
    sleeper_->SleepUntil(until);
  }
}

void JournalCommitter::Run() {
  while (true) {
    const bool stopping = Gather();
    const absl::Time next = CommitAndRelease(stopping);
    if (stopping) return;
    sleeper_->SleepUntil(next);
  }
}

absl::Time JournalCommitter::CommitAndRelease(bool stopping) {
  Outputs outputs;
  std::optional<absl::Status> kept;
  absl::Time next = absl::InfiniteFuture();
  {
    MutexLock lock(&commit_mutex_);
    last_outputs_ = BeginAppend({});
    // Also if nothing waits: an append in progress may have failed.
    const bool pausing = failing_ && clock_->Now() < next_try_ && !stopping;
    const absl::Time begun = clock_->Now();
    kept = pausing ? StorageUnavailable() : CommitLocked(stopping);
    last_append_ = clock_->Now() - begun;
    if (failing_) next = next_try_;
    outputs = EndAppend();
    if (!kept.has_value()) {
      MutexLock left_lock(&mutex_);
      left_.insert(left_.begin(), std::make_move_iterator(outputs.begin()),
                   std::make_move_iterator(outputs.end()));
      return clock_->Now() + kRoomPause;
    }
  }
  Release(outputs, *kept);
  return next;
}

bool JournalCommitter::WaitsForRoom() {
  const absl::Time now = clock_->Now();
  if (failing_ || IsOpen() || storage_->HasRoom()) {
    no_room_since_ = absl::InfiniteFuture();
    return false;
  }
  no_room_since_ = std::min(no_room_since_, now);
  return now - no_room_since_ < kMaxRoomWait;
}

std::optional<absl::Status> JournalCommitter::CommitLocked(bool stopping) {
  Journal::Batch taken;
  while (taken.appended == 0) {
    if (!stopping && WaitsForRoom()) return std::nullopt;
    taken = journal_->Take();
    if (taken.entries.empty()) break;
    busy_since_nanos_ = absl::ToUnixNanos(clock_->Now());
    const absl::Status appended = storage_->Append(storage_->position(), taken.entries);
    busy_since_nanos_ = 0;
    if (!appended.ok()) {
      journal_->PutBack(std::move(taken));
      next_try_ = clock_->Now() + pause_;
      pause_ = std::min(2 * pause_, kMaxPause);
      BeginFailing(appended);
      return StorageUnavailable();
    }
  }
  committed_.store(taken.appended, std::memory_order_release);
  pause_ = kFirstPause;
  if (failing_) EndFailing();
  return absl::OkStatus();
}

bool JournalCommitter::Hangs() const {
  const int64_t since = busy_since_nanos_;
  return since != 0 && clock_->Now() - absl::FromUnixNanos(since) > kMaxAppendTime;
}

void JournalCommitter::RefuseAll() {
  BeginFailing(absl::DeadlineExceededError(
      absl::StrCat("the disk has not answered for ", absl::FormatDuration(kMaxAppendTime))));
  Outputs left;
  Outputs under_way;
  {
    MutexLock lock(&mutex_);
    left.swap(left_);
    under_way.swap(under_way_);
  }
  Release(under_way, StorageUnavailable());
  Release(left, StorageUnavailable());
  // If the storage works again, the next append reports that.
  sleeper_->Wake();
}

void JournalCommitter::BeginFailing(const absl::Status& error) {
  MutexLock lock(&health_mutex_);
  if (failing_ && failure_ == error.message()) return;
  failure_ = std::string(error.message());
  Log(LogLevel::kError, "commands can't be stored; new ones are refused until they can",
      {{"error", failure_}});
  if (failing_.exchange(true)) return;
  journal_->AcceptCommands(false);
  if (listener_ != nullptr) listener_(false);
}

void JournalCommitter::EndFailing() {
  MutexLock lock(&health_mutex_);
  if (!failing_.exchange(false)) return;
  journal_->AcceptCommands(true);
  Log(LogLevel::kInfo, "commands are stored again");
  if (listener_ != nullptr) listener_(true);
}

}  // namespace callslip::tracker
