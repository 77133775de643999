#include "tracker/cluster/membership.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {

Membership::Membership(Clock* clock, std::unique_ptr<CellStore> store, const std::string& name,
                       std::function<void()> on_lost)
    : clock_(clock),
      store_(std::move(store)),
      on_lost_(std::move(on_lost)),
      sleeper_(clock->NewSleeper()),
      ownership_(clock, store_.get(), name) {
  thread_ = std::thread([this] { Run(); });
}

Membership::~Membership() {
  stop_ = true;
  sleeper_->Wake();
  thread_.join();
}

std::optional<uint64_t> Membership::epoch() const {
  const uint64_t epoch = epoch_.load(std::memory_order_acquire);
  return epoch == 0 ? std::nullopt : std::optional(epoch);
}

std::string Membership::owner() const {
  MutexLock lock(&mutex_);
  return owner_;
}

void Membership::Run() {
  while (!stop_) {
    const absl::Time next = ownership_.Step();
    Note();
    if (ownership_.state() == Ownership::State::kLost) {
      on_lost_();
      return;
    }
    sleeper_->SleepUntil(next);
  }
  if (const absl::Status released = ownership_.Release(); !released.ok()) {
    Log(LogLevel::kWarning, "the cell could not be given up; the next tracker waits for its end",
        {{"error", std::string(released.message())}});
  }
  Note();
}

void Membership::Note() {
  const bool is_ours = ownership_.state() == Ownership::State::kWaiting ||
                       ownership_.state() == Ownership::State::kOwner;
  answers_until_nanos_.store(
      absl::ToUnixNanos(std::max(ownership_.answers_until(), absl::UnixEpoch())),
      std::memory_order_release);
  const uint64_t before = epoch_.exchange(is_ours ? ownership_.epoch() : 0);
  if (is_ours && before == 0) {
    Log(LogLevel::kInfo, "the cell is this tracker's",
        {{"epoch", absl::StrCat(ownership_.epoch())}});
  }
  MutexLock lock(&mutex_);
  owner_ = ownership_.seen().released ? "" : ownership_.seen().owner;
  const absl::Status& status = ownership_.status();
  const std::string trouble(status.ok() || absl::IsFailedPrecondition(status) ? ""
                                                                              : status.message());
  if (trouble == trouble_) return;
  trouble_ = trouble;
  if (trouble.empty()) {
    Log(LogLevel::kInfo, "the database of the cell answers again");
  } else {
    Log(LogLevel::kError, "the database of the cell does not answer", {{"error", trouble}});
  }
}

void LeasedGate::Pass(Output output) {
  if (!membership_->MayAnswer()) return output(StorageUnavailable());
  if (behind_ == nullptr) return output(absl::OkStatus());
  behind_->Pass([membership = membership_, output = std::move(output)](const absl::Status& kept) {
    output(kept.ok() && !membership->MayAnswer() ? StorageUnavailable() : kept);
  });
}

}  // namespace callslip::tracker
