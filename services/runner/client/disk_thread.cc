#include "runner/client/disk_thread.h"

#include <deque>
#include <map>
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

// The threads of this process, counted for each of their users.
class Threads {
 public:
  static Threads& OfThisProcess() {
    static auto& threads = *new Threads;
    return threads;
  }

  // UNAVAILABLE if there can be no further thread for this user.
  absl::Status Add(const DiskUser& user) {
    MutexLock lock(&mutex_);
    const std::string hang = " threads wait for files: the file system may hang";
    if (all_ >= DiskThread::kMaxThreads) {
      return absl::UnavailableError(absl::StrCat(all_, hang));
    }
    if (Of(of_workspace_, user.workspace) >= DiskThread::kMaxThreadsOfWorkspace) {
      return absl::UnavailableError(
          absl::StrCat(DiskThread::kMaxThreadsOfWorkspace, " of the workspace's", hang));
    }
    if (Of(of_session_, user.session) >= DiskThread::kMaxThreadsOfSession) {
      return absl::UnavailableError(
          absl::StrCat(DiskThread::kMaxThreadsOfSession, " of the session's", hang));
    }
    ++all_;
    ++of_workspace_[user.workspace];
    ++of_session_[user.session];
    return absl::OkStatus();
  }
  void Remove(const DiskUser& user) {
    MutexLock lock(&mutex_);
    --all_;
    if (--of_workspace_[user.workspace] == 0) of_workspace_.erase(user.workspace);
    if (--of_session_[user.session] == 0) of_session_.erase(user.session);
  }

 private:
  using Counts = std::map<std::string, int>;

  static int Of(const Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

  Mutex mutex_;
  int all_ ABSL_GUARDED_BY(mutex_) = 0;
  Counts of_workspace_ ABSL_GUARDED_BY(mutex_);
  Counts of_session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

// State that the thread keeps after its owner is destroyed.
struct DiskThread::Shared : std::enable_shared_from_this<Shared> {
  struct Call {
    int64_t id = 0;
    std::shared_ptr<const std::atomic<bool>> is_wanted;
    Work work;
  };

  Shared(boost::asio::any_io_executor of, DiskUser whose)
      : executor(std::move(of)), user(std::move(whose)) {}

  absl::Status Add(Call call) {
    MutexLock lock(&mutex);
    if (!has_thread) {
      RETURN_IF_ERROR(Threads::OfThisProcess().Add(user));
      try {
        std::thread([self = shared_from_this()] {
          self->Run();
          Threads::OfThisProcess().Remove(self->user);
        }).detach();
      } catch (const std::system_error& error) {
        Threads::OfThisProcess().Remove(user);
        return absl::UnavailableError(absl::StrCat("no thread for files: ", error.what()));
      }
      has_thread = true;
    }
    calls.push_back(std::move(call));
    return absl::OkStatus();
  }

  // Runs on the thread until the queue is empty.
  void Run() {
    mutex.Lock();
    while (!calls.empty()) {
      Call call = std::move(calls.front());
      calls.pop_front();
      mutex.Unlock();
      if (*call.is_wanted) call.work(*call.is_wanted);
      call.work = nullptr;
      mutex.Lock();
      if (owner == nullptr) continue;
      boost::asio::post(executor, [self = shared_from_this(), id = call.id] { self->Ended(id); });
    }
    has_thread = false;
    mutex.Unlock();
  }
  // Runs on the owner's thread, where the owner is also destroyed.
  void Ended(int64_t id) {
    DiskThread* to = nullptr;
    {
      MutexLock lock(&mutex);
      to = owner;
    }
    if (to != nullptr) to->End(id, absl::OkStatus());
  }

  const boost::asio::any_io_executor executor;
  const DiskUser user;
  Mutex mutex;
  std::deque<Call> calls ABSL_GUARDED_BY(mutex);
  bool has_thread ABSL_GUARDED_BY(mutex) = false;
  DiskThread* owner ABSL_GUARDED_BY(mutex) = nullptr;  // Null after the owner is destroyed.
};

DiskThread::DiskThread(boost::asio::any_io_executor executor, Timers* timers, DiskUser user)
    : timers_(timers), shared_(std::make_shared<Shared>(std::move(executor), std::move(user))) {
  MutexLock lock(&shared_->mutex);
  shared_->owner = this;
}

DiskThread::~DiskThread() {
  {
    MutexLock lock(&shared_->mutex);
    shared_->owner = nullptr;
    shared_->calls.clear();
  }
  while (!waiting_.empty()) {
    End(waiting_.begin()->first, absl::CancelledError("the session is over"));
  }
}

void DiskThread::Do(size_t bytes, Work work, Done done) {
  if (bytes_ + bytes > kMaxBytes) {
    return done(absl::UnavailableError(
        absl::StrCat("files are slow to be read and written: what waits for them is above ",
                     kMaxBytes >> 20, " MiB")));
  }
  const int64_t call = ++last_call_;
  const auto is_wanted = std::make_shared<std::atomic<bool>>(true);
  absl::Status added = shared_->Add({call, is_wanted, std::move(work)});
  if (!added.ok()) return done(added);
  bytes_ += bytes;
  waiting_[call] = {
      .bytes = bytes,
      .is_wanted = is_wanted,
      .done = std::move(done),
      .timer = timers_->After(kMaxWait, [this, call] {
        End(call, absl::DeadlineExceededError(absl::StrCat(
                      "the file system has not answered within ", absl::FormatDuration(kMaxWait))));
      })};
}

void DiskThread::End(int64_t call, const absl::Status& status) {
  auto ended = waiting_.extract(call);
  if (ended.empty()) return;
  *ended.mapped().is_wanted = false;
  bytes_ -= ended.mapped().bytes;
  ended.mapped().done(status);
}

}  // namespace callslip::runner
