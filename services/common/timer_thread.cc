#include "common/timer_thread.h"

namespace callslip {

TimerThread::TimerThread(Clock* clock) : clock_(clock), sleeper_(clock->NewSleeper()) {
  thread_ = std::thread([this] { Run(); });
}

TimerThread::TimerId TimerThread::At(absl::Time time, std::function<void()> action) {
  TimerId id = 0;
  bool first = false;
  {
    MutexLock lock(&mutex_);
    id = ++last_id_;
    if (stop_) return id;
    const auto added = timers_.emplace(Key(time, id), std::move(action)).first;
    times_.emplace(id, time);
    first = added == timers_.begin();
  }
  if (first) sleeper_->Wake();
  return id;
}

TimerThread::TimerId TimerThread::After(absl::Duration wait, std::function<void()> action) {
  return At(clock_->Now() + wait, std::move(action));
}

void TimerThread::Cancel(TimerId id) {
  std::function<void()> dropped;  // Destroyed without the lock.
  MutexLock lock(&mutex_);
  const auto time = times_.find(id);
  if (time == times_.end()) return;
  const auto timer = timers_.find(Key(time->second, id));
  dropped = std::move(timer->second);
  timers_.erase(timer);
  times_.erase(time);
}

void TimerThread::Stop() {
  std::map<Key, std::function<void()>> dropped;
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    dropped.swap(timers_);
    times_.clear();
  }
  sleeper_->Wake();
  if (thread_.joinable()) thread_.join();
}

void TimerThread::Run() {
  while (true) {
    std::function<void()> action;
    absl::Time next = absl::InfiniteFuture();
    {
      MutexLock lock(&mutex_);
      if (stop_) return;
      if (!timers_.empty()) next = timers_.begin()->first.first;
      if (next <= clock_->Now()) {
        times_.erase(timers_.begin()->first.second);
        action = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
      }
    }
    if (action) {
      action();
    } else {
      sleeper_->SleepUntil(next);
    }
  }
}

}  // namespace callslip
