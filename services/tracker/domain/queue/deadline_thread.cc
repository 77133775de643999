#include "tracker/domain/queue/deadline_thread.h"

#include <limits>

namespace callslip::tracker {
namespace {

constexpr int64_t kAwake = std::numeric_limits<int64_t>::max();

}  // namespace

DeadlineThread::DeadlineThread(Clock* clock, CommandTable* table)
    : clock_(clock), table_(table), sleeper_(clock->NewSleeper()), asleep_until_(kAwake) {
  table_->SetDeadlineListener([this](absl::Time deadline) { Arm(deadline); });
  thread_ = std::thread([this] { Run(); });
}

DeadlineThread::~DeadlineThread() {
  stop_ = true;
  sleeper_->Wake();
  thread_.join();
}

void DeadlineThread::Arm(absl::Time deadline) {
  if (absl::ToUnixNanos(deadline) < asleep_until_.load()) sleeper_->Wake();
}

void DeadlineThread::Run() {
  while (!stop_) {
    table_->FireDeadlines(clock_->Now());
    // From here on a new deadline leaves a pending wake, which ends the sleep below at once if
    // NextDeadlineTime() was too early to see the deadline.
    asleep_until_ = kAwake;
    const absl::Time next = table_->NextDeadlineTime();
    asleep_until_ = absl::ToUnixNanos(next);
    sleeper_->SleepUntil(next);
  }
}

}  // namespace callslip::tracker
