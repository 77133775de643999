#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/domain/journal/output_gate.h"

namespace callslip::tracker {

// Moves the waiting entries of a journal into its storage, and then lets the outputs leave: many
// changes and many outputs with one append.
//
// Callers whose outputs left together return together, one after the other. So that the first of
// them does not get an append of its own, the thread waits for half as many outputs as last time,
// for at most the duration of that append and at most 10 ms.
//
// A storage that falls behind slows down its writers: their changes and outputs wait for it, up to
// 2 s, while the threads of their calls continue. Only after that does it fail.
//
// While the storage fails, changes wait in memory, outputs fail, new commands are rejected, and the
// append is retried with growing pauses. An append that does not return is a failure too; callers
// that have to wait for it detect it after 5 s.
class JournalCommitter final : public OutputGate {
 public:
  enum class Where {
    kOnCaller,  // At the end of each batch, which saves two thread switches. For storages that do
                // not wait for the disk.
    kOnThread,  // All on its own thread, so that no caller waits.
  };

  // Becomes the journal's listener. `journal` and `storage` must outlive this, and this must
  // outlive all callers of Pass().
  JournalCommitter(Clock* clock, Journal* journal, JournalStorage* storage, Where where);
  // Appends what waits, if the storage accepts it.
  ~JournalCommitter() override;

  // Calls the listener, on the thread that notices, when the storage begins to fail (false), and
  // when it works again (true). Null: none. On return, the previous listener is not called anymore.
  void SetStorageListener(std::function<void(bool)> listener) {
    MutexLock lock(&health_mutex_);
    listener_ = std::move(listener);
    if (listener_ != nullptr && failing_) listener_(false);
  }

  bool IsOpen() const override {
    return committed_.load(std::memory_order_acquire) >= journal_->appended();
  }
  void Pass(Output output) override;
  void BeginBatch() override;
  void EndBatch() override;

 private:
  // The initial and the maximum pause before a failed append is retried.
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
  static constexpr absl::Duration kMaxPause = absl::Seconds(5);

  // If an append takes longer than this, all callers have had enough time to return.
  static constexpr absl::Duration kMaxGatheringTime = absl::Milliseconds(10);

  // Far longer than a sync of a slow and busy disk, shorter than the timeout of an agent that waits
  // for an immediate answer.
  static constexpr absl::Duration kMaxAppendTime = absl::Seconds(5);

  // How long to wait for a storage that is behind, and how often to check it. By then a disk has
  // finished one large operation, and callers at the gateway still have most of their timeout.
  static constexpr absl::Duration kMaxRoomWait = absl::Seconds(2);
  static constexpr absl::Duration kRoomPause = absl::Milliseconds(10);

  using Outputs = std::vector<Output>;

  void Run();
  void LeaveToThread(Outputs outputs);
  // Waits for the callers that return together. True if the thread must end.
  bool Gather();
  // Assigns `outputs` and `left_` to the append that the caller is about to make; returns their
  // number.
  size_t BeginAppend(Outputs outputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // The outputs that still wait for it.
  Outputs EndAppend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // The storage is behind, but not yet for too long.
  bool WaitsForRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // Appends everything that waits; nullopt if the rest must wait for room.
  std::optional<absl::Status> CommitLocked(bool stopping)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void BeginFailing(const absl::Status& error);
  void EndFailing();
  bool Hangs() const;
  // Fails all outputs that wait for a storage that hangs.
  void RefuseAll();
  // One pass of the thread; returns when the next one is due at the latest.
  absl::Time CommitAndRelease(bool stopping);

  Clock* const clock_;
  Journal* const journal_;
  JournalStorage* const storage_;
  const Where where_;
  const std::unique_ptr<Sleeper> sleeper_;

  // The value of Journal::appended() up to which everything is in the storage.
  std::atomic<uint64_t> committed_;
  std::atomic<bool> failing_{false};
  // The start of the storage operation in progress; 0: none.
  std::atomic<int64_t> busy_since_nanos_{0};

  // Held during an append.
  Mutex commit_mutex_;
  absl::Duration pause_ ABSL_GUARDED_BY(commit_mutex_) = kFirstPause;
  absl::Time next_try_ ABSL_GUARDED_BY(commit_mutex_) = absl::InfinitePast();
  absl::Time no_room_since_ ABSL_GUARDED_BY(commit_mutex_) = absl::InfiniteFuture();

  // Held while `failing_` and its consequences change. Locked after `commit_mutex_`.
  Mutex health_mutex_;
  std::function<void(bool)> listener_ ABSL_GUARDED_BY(health_mutex_);
  std::string failure_ ABSL_GUARDED_BY(health_mutex_);  // The last one logged.

  Mutex mutex_;
  Outputs left_ ABSL_GUARDED_BY(mutex_);       // For the next append,
  Outputs under_way_ ABSL_GUARDED_BY(mutex_);  // and for the current one.
  size_t enough_ ABSL_GUARDED_BY(mutex_) = 1;  // The size of `left_` at which to wake the thread.
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // The thread's last append: the number of its outputs, and its duration.
  size_t last_outputs_ = 0;
  absl::Duration last_append_;
  std::thread thread_;
};

}  // namespace callslip::tracker
