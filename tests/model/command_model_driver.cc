#include "model/command_model_driver.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace callslip::tracker {
namespace {

// Every clock is a multiple of this, and no two operations come at the same time modulo it: two
// deadlines come in the same millisecond only where they follow from the same operation.
constexpr int64_t kTimeGridMs = 500;

// Without the grace, which would change deadlines: only such restarts can be compared.
Setup WithoutGrace(Setup setup) {
  setup.clocks.restart_grace = absl::ZeroDuration();
  return setup;
}

std::unique_ptr<MortalJournalStorage> NewStorage() {
  auto storage = std::make_unique<MortalJournalStorage>();
  if (!storage->Restart().ok()) std::abort();
  return storage;
}

}  // namespace

ModelDriver::ModelDriver(const Setup& setup, ModelMistake mistake)
    : setup_(WithoutGrace(setup)),
      storage_(setup.restarts ? NewStorage() : nullptr),
      table_(setup_.clocks, setup_.limits, setup_.restarts ? &journal_ : nullptr),
      model_(setup.clocks, setup.limits, kFeeds, mistake,
             [this](int command) { return Read(command); }),
      now_(absl::FromUnixSeconds(1'769'947'200)) {
  for (int i = 0; i < kFeeds; ++i) feeds_.push_back(std::make_shared<CountingFeed>());
  table_.SetDeadlineListener([this](absl::Time time) { armed_ = std::min(armed_, time); });
}

void ModelDriver::Apply(const Op& op) {
  if (failed()) return;
  MoveTo(now_ + absl::Milliseconds(op.advance_ms));
  MoveToFreeTime(op.within_ms);
  if (failed()) return;
  Do(op);
  FireWhatIsDue();
  // Not after each call, so that some changes of a command are stored together.
  if (setup_.restarts && !failed() && op.slot % 3 == 0) Commit();
}

// Time.

void ModelDriver::MoveTo(absl::Time target) {
  while (!failed()) {
    const absl::Time next = model_.NextDeadline();
    if (std::min(next, armed_) > target) break;
    if (armed_ < next && setup_.fires_early) {
      const absl::Time early = armed_;
      FireAt(early);
      if (armed_ <= early) model_.Disagree("NextDeadlineTime() does not move on");
    } else if (next <= target) {
      FireAt(next);
    } else {
      break;
    }
  }
  now_ = std::max(now_, target);
}

void ModelDriver::FireAt(absl::Time time) {
  now_ = std::max(now_, time);
  table_.FireDeadlines(now_);
  armed_ = table_.NextDeadlineTime();
  model_.Fire(now_);
  Settle();
}

void ModelDriver::FireWhatIsDue() {
  for (int i = 0; i < 100 && !failed() && model_.NextDeadline() <= now_; ++i) FireAt(now_);
}

void ModelDriver::MoveToFreeTime(bool within_ms) {
  if (used_times_.size() >= kTimeGridMs) used_times_.clear();
  int64_t time_ms = absl::ToUnixMillis(now_ + absl::Nanoseconds(999'999));
  while (!used_times_.insert(time_ms % kTimeGridMs).second) ++time_ms;
  // Both times give deadlines the same whole millisecond, since they fire at the first one after
  // them.
  const absl::Time time = absl::FromUnixMillis(time_ms);
  MoveTo(within_ms ? std::max(now_, time - absl::Microseconds(400)) : time);
}

// One operation.

void ModelDriver::Do(const Op& op) {
  switch (op.kind) {
    case OpKind::kRegister: return DoRegister(op);
    case OpKind::kRepeat: return DoRepeat(op);
    case OpKind::kReplay: return DoReplay(op);
    case OpKind::kGet: return DoGet(op);
    case OpKind::kList: return DoList(op);
    case OpKind::kCancel: return DoCancel(op);
    case OpKind::kExpire: return DoExpire(op);
    case OpKind::kLease: return DoLease(op);
    case OpKind::kAbandon: return DoAbandon(op);
    case OpKind::kGiveBack: return DoGiveBack(op);
    case OpKind::kAcknowledge: return DoAcknowledge(op);
    case OpKind::kComplete: return DoComplete(op);
    case OpKind::kWatch: return DoWatch(op);
    case OpKind::kWatchAll: return DoWatchAll(op);
    case OpKind::kUnwatch: return DoUnwatch(op);
    case OpKind::kFailWatch: return DoFailWatch(op);
    case OpKind::kTake: return DoTake(op);
    case OpKind::kWait: return;
    case OpKind::kNextDeadline:
      if (model_.NextDeadline() < absl::InfiniteFuture()) MoveTo(model_.NextDeadline());
      return;
    case OpKind::kJump: return DoJump();
    case OpKind::kDrain: return DoDrain();
    case OpKind::kOnNoLeases: return DoOnNoLeases(op);
    case OpKind::kRestart: return DoRestart();
  }
}

void ModelDriver::DoJump() {
  const absl::Time first = model_.NextDeadline();
  if (first == absl::InfiniteFuture()) return;
  absl::Time time = first + absl::Milliseconds(1);
  while (!used_times_.insert(absl::ToUnixMillis(time) % kTimeGridMs).second) {
    time += absl::Milliseconds(1);
  }
  // Over one deadline only: the table chooses the order of several.
  if (model_.CountDue(time) == model_.CountDue(first)) FireAt(time);
}

void ModelDriver::DoRestart() {
  if (!setup_.restarts) return;
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
    call.handle = nullptr;
  }
  for (const auto& [slot, watch] : watches_) {
    table_.Unwatch(watch);
    model_.Unwatch(slot);
  }
  watches_.clear();
  for (int feed = 0; feed < kFeeds; ++feed) {
    if (!failed()) DoTake({.feed = feed, .max_commands = 1'000'000});
  }
  Settle();
  if (failed()) return;
  Commit();
  std::destroy_at(&table_);
  std::construct_at(&table_, setup_.clocks, setup_.limits, &journal_);
  // A mixture of entries in the log alone and of rows in the database.
  absl::Status restored;
  if (++restarts_ % 2 == 0) restored = (*storage_)->WriteRows();
  restored.Update(storage_->Restart());
  if (restored.ok()) restored = table_.Restore(**storage_, now_);
  if (!restored.ok()) return model_.Disagree(std::string(restored.message()));
  asked_for_no_leases_ = told_of_no_leases_ = false;
  armed_ = table_.NextDeadlineTime();
  table_.SetDeadlineListener([this](absl::Time time) { armed_ = std::min(armed_, time); });
  model_.Restart(now_);
  for (int command = 0; command < static_cast<int>(known_.size()); ++command) {
    CheckCommand(command);
  }
  Settle();
}

void ModelDriver::Commit() {
  Journal::Batch batch = journal_.Take();
  JournalStorage& storage = **storage_;
  const absl::Status appended = storage.Append(storage.position(), batch.entries);
  if (!appended.ok()) model_.Disagree(std::string(appended.message()));
}

// What an operation names.

std::optional<int> ModelDriver::Find(int slot) const {
  if (slot == kMadeUp) return -1;
  const auto found = commands_by_slot_.find(slot);
  if (found == commands_by_slot_.end()) return std::nullopt;
  return found->second;
}

std::string ModelDriver::IdOf(int command, int slot) const {
  if (command >= 0) return known_[static_cast<size_t>(command)].id.ToString();
  switch (slot % 4) {
    case 0: return "corr-1769947200000-00112233445566778899aabbccddeeff";
    case 1:
      return "ann_1769947200000_ff112233445566778899aabbccddeeff";  // Of a partition too many.
    case 2: return "corr-1769947200000-0011";
    default: return "no id at all";
  }
}

CommandFilter ModelDriver::FilterOf(const Op& op) const {
  CommandFilter filter;
  for (int i = 0; i < kCommandStateCount; ++i) {
    if ((op.states >> i & 1) != 0) filter.states.push_back(static_cast<CommandState>(i));
  }
  if (op.filter_target) filter.target = kTargets[static_cast<size_t>(op.target)];
  filter.label = kLabels[static_cast<size_t>(op.filter_label)];
  return filter;
}

Payload ModelDriver::JsonOf(size_t bytes, int slot) {
  if (bytes == 0) return nullptr;
  std::string text = absl::StrCat("{\"n\":", slot, "}");
  if (text.size() < bytes) text.insert(text.size() - 1, bytes - text.size(), ' ');
  return std::make_shared<const std::string>(std::move(text));
}

// A schedule.

std::string RunSchedule(const Schedule& schedule, ModelMistake mistake) {
  ModelDriver driver(schedule.setup, mistake);
  for (const Op& op : schedule.ops) driver.Apply(op);
  driver.Finish();
  return driver.disagreement();
}

}  // namespace callslip::tracker
