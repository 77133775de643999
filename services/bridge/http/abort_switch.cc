#include "bridge/http/abort_switch.h"

#include <utility>

namespace callslip::bridge {

void AbortSwitch::Abort() {
  MutexLock lock(&mutex_);
  aborted_ = true;
  if (sleeper_ != nullptr) sleeper_->Wake();
  // Under the lock, so that EndExchange() cannot return while the connection is being stopped.
  if (stop_) stop_();
}

bool AbortSwitch::aborted() {
  MutexLock lock(&mutex_);
  return aborted_;
}

bool AbortSwitch::BeginWait(std::function<void()> stop) {
  MutexLock lock(&mutex_);
  if (aborted_) return false;
  stop_ = std::move(stop);
  return true;
}

bool AbortSwitch::BeginExchange(std::function<void()> stop) {
  MutexLock lock(&mutex_);
  if (aborted_) return false;
  sent_ = true;
  stop_ = std::move(stop);
  return true;
}

void AbortSwitch::EndExchange() {
  MutexLock lock(&mutex_);
  stop_ = nullptr;
}

bool AbortSwitch::sent() {
  MutexLock lock(&mutex_);
  return sent_;
}

void AbortSwitch::ForgetSent() {
  MutexLock lock(&mutex_);
  sent_ = false;
}

bool AbortSwitch::SleepUntil(absl::Time time) {
  Sleeper* sleeper = nullptr;
  {
    MutexLock lock(&mutex_);
    if (aborted_) return false;
    if (sleeper_ == nullptr) sleeper_ = clock_->NewSleeper();
    sleeper = sleeper_.get();
  }
  // A wake that precedes the sleep is not lost.
  sleeper->SleepUntil(time);
  return !aborted();
}

}  // namespace callslip::bridge
