#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "runner/timers.h"

namespace callslip::runner {

// For whom a thread works: threads that hang count against each.
struct DiskUser {
  std::string workspace;
  std::string session;
};

// A thread for disk operations of unknown duration, so that a file system that hangs blocks only
// its own users. Runs one call after the other. The thread exists only while there are calls; it is
// abandoned if it hangs when this is destroyed.
class DiskThread {
 public:
  // How long a caller waits for its call.
  static constexpr absl::Duration kMaxWait = absl::Seconds(30);
  // Limit for the calls that wait or run.
  static constexpr size_t kMaxBytes = size_t{32} << 20;
  // Concurrent threads in this process, for one workspace, and for one session: it can need another
  // one where the last one hangs. So a file system that hangs leaves threads for all others.
  static constexpr int kMaxThreads = 256;
  static constexpr int kMaxThreadsOfWorkspace = kMaxThreads / 4;
  static constexpr int kMaxThreadsOfSession = 4;

  // Does the work; checks `is_wanted` before it changes anything.
  using Work = std::function<void(const std::atomic<bool>& is_wanted)>;
  using Done = std::function<void(const absl::Status&)>;

  // `executor` is that of the caller's thread, and `timers` belong to that thread. Both must
  // outlive this.
  DiskThread(boost::asio::any_io_executor executor, Timers* timers, DiskUser user);
  // Ends all calls with CANCELLED. Calls that have not begun are dropped.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  // Calls `work`, which must own the data it needs, `bytes` in total, on the thread. Then calls
  // `done` once, on the caller's thread, possibly before this returns. DEADLINE_EXCEEDED after
  // kMaxWait; UNAVAILABLE if too much waits or no thread is available.
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
  size_t bytes_ = 0;  // Of the waiting calls.
  int64_t last_call_ = 0;
};

}  // namespace callslip::runner
