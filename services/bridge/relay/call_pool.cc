#include "bridge/relay/call_pool.h"

#include <utility>

namespace callslip::bridge {

CallPool::~CallPool() {
  std::vector<std::thread> threads;
  std::unique_ptr<InputWatch> watch;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    watching_ = false;
    work_.NotifyAll();
    threads.swap(threads_);
    watch = std::move(watch_);
  }
  for (std::thread& thread : threads) thread.join();
}

void CallPool::Submit(bool is_wait, std::function<void()> run) {
  MutexLock lock(&mutex_);
  (is_wait ? waits_ : calls_).push_back(std::move(run));
  // The reading thread will look for work next.
  if (!reading_ || reader_ != std::this_thread::get_id()) CallHelpLocked();
}

void CallPool::ReadWith(int fd, std::function<bool()> read) {
  MutexLock lock(&mutex_);
  read_ = std::move(read);
  watch_ = std::make_unique<InputWatch>(fd, [this] { HandleInput(); });
  CallHelpLocked();
}

void CallPool::WillRead() {
  MutexLock lock(&mutex_);
  StopWatchLocked();
}

void CallPool::StopWatchLocked() {
  if (watching_) watch_->Stop();
  watching_ = false;
}

void CallPool::HandleInput() {
  MutexLock lock(&mutex_);
  if (!watching_) return;  // Another thread is reading.
  watching_ = false;
  CallHelpLocked();
}

bool CallPool::CanRunLocked() const {
  return running_ < max_threads_ &&
         (!calls_.empty() || (!waits_.empty() && running_waits_ < max_waits_));
}

void CallPool::CallHelpLocked() {
  if (!HasWorkLocked()) return;
  // A woken thread still counts as idle until it runs; once it has found work, it wakes the next
  // one.
  if (idle_threads_ > 0) {
    work_.NotifyOne();
  } else if (static_cast<int>(threads_.size()) <= max_threads_) {  // One more, for reading.
    threads_.emplace_back([this] { RunThread(); });
  }
}

void CallPool::RunThread() {
  MutexLock lock(&mutex_);
  while (!stopping_) {
    if (CanRunLocked()) {
      RunLocked();
    } else if (HasWorkLocked()) {
      ReadLocked();
    } else {
      ++idle_threads_;
      work_.Wait(&mutex_);
      --idle_threads_;
    }
  }
}

void CallPool::RunLocked() {
  const bool is_wait = calls_.empty();
  std::deque<std::function<void()>>& queue = is_wait ? waits_ : calls_;
  std::function<void()> run = std::move(queue.front());
  queue.pop_front();
  ++running_;
  if (is_wait) ++running_waits_;
  if (IsInputUnattendedLocked()) watching_ = watch_->Start();
  CallHelpLocked();
  mutex_.Unlock();
  run();
  run = nullptr;  // Frees its captures outside of the lock.
  mutex_.Lock();
  --running_;
  if (is_wait) --running_waits_;
  StopWatchLocked();
}

void CallPool::ReadLocked() {
  const std::function<bool()> read = read_;
  reading_ = true;
  reader_ = std::this_thread::get_id();
  mutex_.Unlock();
  const bool more = read();
  mutex_.Lock();
  reading_ = false;
  if (!more) read_ = nullptr;
}

}  // namespace callslip::bridge
