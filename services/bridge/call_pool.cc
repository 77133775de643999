#include "bridge/call_pool.h"

#include <utility>

namespace callslip::bridge {

CallPool::~CallPool() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void CallPool::Submit(bool is_wait, std::function<void()> run) {
  MutexLock lock(&mutex_);
  (is_wait ? waits_ : calls_).push_back(std::move(run));
  work_.NotifyAll();
  // A thread that was woken still counts as idle until it runs, hence the comparison.
  const int queued = static_cast<int>(calls_.size() + waits_.size());
  if (queued > idle_threads_ && static_cast<int>(threads_.size()) < max_threads_) {
    threads_.emplace_back([this] { RunThread(); });
  }
}

bool CallPool::HasWorkLocked() const {
  return stopping_ || !calls_.empty() || (!waits_.empty() && running_waits_ < max_waits_);
}

void CallPool::RunThread() {
  MutexLock lock(&mutex_);
  while (true) {
    ++idle_threads_;
    while (!HasWorkLocked()) work_.Wait(&mutex_);
    --idle_threads_;
    if (stopping_) return;
    const bool is_wait = calls_.empty();
    std::deque<std::function<void()>>& queue = is_wait ? waits_ : calls_;
    std::function<void()> run = std::move(queue.front());
    queue.pop_front();
    if (is_wait) ++running_waits_;
    mutex_.Unlock();
    run();
    run = nullptr;  // What it owns is freed outside of the lock.
    mutex_.Lock();
    if (is_wait) --running_waits_;
    // A wait may start only now.
    if (is_wait && !waits_.empty()) work_.NotifyAll();
  }
}

}  // namespace callslip::bridge
