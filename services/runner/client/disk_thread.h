#ifndef CALLSLIP_RUNNER_CLIENT_DISK_THREAD_H_
#define CALLSLIP_RUNNER_CLIENT_DISK_THREAD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "runner/timers.h"

namespace callslip::runner {

// A thread for what a disk may take any time for, so that a file system that hangs holds up nobody
// but who uses it. Does one call after the other. There is a thread as long as there are calls; one
// that hangs when this goes is left behind.
class DiskThread {
 public:
  // How long a caller waits for its call.
  static constexpr absl::Duration kMaxWait = absl::Seconds(30);
  // What may wait or be under way.
  static constexpr size_t kMaxBytes = size_t{32} << 20;
  // Of this process, at a time.
  static constexpr int kMaxThreads = 256;

  // Does what is to be done, and looks whether that is still wanted before it changes anything.
  using Work = std::function<void(const std::atomic<bool>& is_wanted)>;
  using Done = std::function<void(const absl::Status&)>;

  // `executor` is that of the caller's thread, and `timers` are its timers. Both must outlive this.
  DiskThread(boost::asio::any_io_executor executor, Timers* timers);
  // Ends all calls with CANCELLED. What has not begun is not done.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  // Calls `work` on the thread, which must hold what it needs: `bytes` of it. Then calls `done`,
  // once, on the caller's thread, maybe before this returns. Errors: DEADLINE_EXCEEDED after
  // kMaxWait; UNAVAILABLE where too much waits, or there is no thread.
  void Do(size_t bytes, Work work, Done done);

 private:
  struct Shared;
  struct Waiting {
    size_t bytes = 0;
    std::shared_ptr<std::atomic<bool>> is_wanted;
    Done done;
    std::unique_ptr<Timers::Timer> timer;
  };

  void End(int64_t call, const absl::Status& status);

  Timers* const timers_;
  const std::shared_ptr<Shared> shared_;
  std::map<int64_t, Waiting> waiting_;
  size_t bytes_ = 0;  // Of these.
  int64_t last_call_ = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CLIENT_DISK_THREAD_H_
