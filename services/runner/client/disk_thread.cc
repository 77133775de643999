#include "runner/client/disk_thread.h"

#include <atomic>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/post.hpp"
#include "common/mutex.h"
#include "common/status_macros.h"

namespace callslip::runner {
namespace {

std::atomic<int>& Threads() {
  static std::atomic<int> threads = 0;
  return threads;
}

}  // namespace

// What the thread keeps where it is left behind.
struct DiskThread::Shared : std::enable_shared_from_this<Shared> {
  explicit Shared(boost::asio::any_io_executor of) : executor(std::move(of)) {}

  struct Call {
    int64_t id = 0;
    std::function<void()> work;
  };

  // On the thread.
  void Run() {
    MutexLock lock(&mutex);
    while (true) {
      while (calls.empty() && owner != nullptr) changed.Wait(&mutex);
      if (owner == nullptr) return;
      Call call = std::move(calls.front());
      calls.pop_front();
      mutex.Unlock();
      call.work();
      call.work = nullptr;
      mutex.Lock();
      if (owner == nullptr) return;
      // Its owner goes on the thread that this is posted to.
      boost::asio::post(executor, [self = shared_from_this(), id = call.id] {
        DiskThread* to = nullptr;
        {
          MutexLock told(&self->mutex);
          to = self->owner;
        }
        if (to != nullptr) to->End(id, absl::OkStatus());
      });
    }
  }
  // False where it has begun.
  bool TakeBack(int64_t id) {
    MutexLock lock(&mutex);
    return std::erase_if(calls, [id](const Call& call) { return call.id == id; }) > 0;
  }

  const boost::asio::any_io_executor executor;
  Mutex mutex;
  CondVar changed;
  std::deque<Call> calls ABSL_GUARDED_BY(mutex);
  DiskThread* owner ABSL_GUARDED_BY(mutex) = nullptr;  // Null once it has gone.
};

DiskThread::DiskThread(boost::asio::any_io_executor executor, Timers* timers)
    : timers_(timers), shared_(std::make_shared<Shared>(std::move(executor))) {
  MutexLock lock(&shared_->mutex);
  shared_->owner = this;
}

DiskThread::~DiskThread() {
  MutexLock lock(&shared_->mutex);
  shared_->owner = nullptr;
  shared_->calls.clear();
  shared_->changed.NotifyAll();
}

absl::Status DiskThread::Check(size_t bytes) const {
  if (waiting_.size() < kMaxCalls && bytes_ + bytes <= kMaxBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("files are slow to be read and written: at most ", kMaxCalls, " calls and ",
                   kMaxBytes >> 20, " MiB of a session wait for them"));
}

absl::Status DiskThread::BeginThread() {
  if (has_thread_) return absl::OkStatus();
  if (++Threads() > kMaxThreads) {
    --Threads();
    return absl::ResourceExhaustedError("too many file systems do not answer");
  }
  try {
    std::thread([shared = shared_] {
      shared->Run();
      --Threads();
    }).detach();
  } catch (const std::system_error& error) {
    --Threads();
    return absl::ResourceExhaustedError(absl::StrCat("no thread for files: ", error.what()));
  }
  has_thread_ = true;
  return absl::OkStatus();
}

void DiskThread::Do(size_t bytes, std::function<void()> work,
                    std::function<void(const absl::Status&)> done) {
  absl::Status can_be_done = Check(bytes);
  if (can_be_done.ok()) can_be_done = BeginThread();
  if (!can_be_done.ok()) return done(can_be_done);
  const int64_t call = ++last_call_;
  bytes_ += bytes;
  Waiting& waiting = waiting_[call];
  waiting.bytes = bytes;
  waiting.done = std::move(done);
  waiting.timer = timers_->After(kMaxWait, [this, call] {
    const bool is_begun = !shared_->TakeBack(call);
    End(call, absl::DeadlineExceededError(absl::StrCat(
                  "the file system has not answered within ", absl::FormatDuration(kMaxWait),
                  is_begun ? ": it may be done all the same" : ": it was not done")));
  });
  MutexLock lock(&shared_->mutex);
  shared_->calls.push_back({call, std::move(work)});
  shared_->changed.NotifyAll();
}

void DiskThread::End(int64_t call, const absl::Status& status) {
  auto ended = waiting_.extract(call);
  if (ended.empty()) return;
  bytes_ -= ended.mapped().bytes;
  ended.mapped().done(status);
}

}  // namespace callslip::runner
