#ifndef CALLSLIP_TRACKER_PROCESS_JOURNAL_COMMITTER_H_
#define CALLSLIP_TRACKER_PROCESS_JOURNAL_COMMITTER_H_

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

// Brings what waits in a journal into its storage, and lets outputs leave after that: many changes
// and many outputs with one append.
//
// Those who were let out together come back together, one after the other: so that the first of
// them does not get an append of its own, the thread waits for half as many as last time, and for
// no longer than that append took, 10 ms at most.
//
// A storage that is behind with what it was given slows down those who write: their changes and
// outputs wait for it, 2 s at most, while the threads of their calls go on. Only then it fails.
//
// While the storage fails, what has changed waits in memory, outputs fail, new commands are
// refused, and the append is tried again with growing pauses. One that does not return is a failure
// too, which whoever has to wait for it after 5 s notices.
class JournalCommitter final : public OutputGate {
 public:
  enum class Where {
    kOnCaller,  // At the end of each batch, which spares two switches of threads. For storages that
                // do not wait for the disk.
    kOnThread,  // All on a thread of its own, so that nobody else waits.
  };

  // Becomes the journal's listener. `journal` and `storage` must outlive this, and this everybody
  // who passes outputs.
  JournalCommitter(Clock* clock, Journal* journal, JournalStorage* storage, Where where);
  // Appends what waits, if the storage takes it.
  ~JournalCommitter() override;

  // Told, by whichever thread notices, when the storage begins to fail (false), and when it is back
  // (true). Null: nobody; once this has returned, the one before is not called any more.
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
  // How soon a failed append is tried again: at first, and at most.
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
  static constexpr absl::Duration kLongestPause = absl::Seconds(5);

  // Where an append takes longer than this, there is enough time for all to come back meanwhile.
  static constexpr absl::Duration kLongestGathering = absl::Milliseconds(10);

  // Far longer than a sync of a slow disk that is busy with other things, shorter than what an
  // agent that waits for an answer at once has patience for.
  static constexpr absl::Duration kLongestAppend = absl::Seconds(5);

  // How long a storage that is behind is waited for, and how often it is looked at. A disk that is
  // busy with one large thing is through with it by then; and whoever waits at the gateway for an
  // answer still has most of its time.
  static constexpr absl::Duration kLongestWaitForRoom = absl::Seconds(2);
  static constexpr absl::Duration kRoomPause = absl::Milliseconds(10);

  using Outputs = std::vector<Output>;

  void Run();
  void LeaveToThread(Outputs outputs);
  // Waits for those who come back together. True where the thread is to end.
  bool Gather();
  // `outputs` and what was left wait for the append that the caller makes; how many those are.
  size_t BeginAppend(Outputs outputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // Those that still wait for it.
  Outputs EndAppend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // The storage is behind, and has not been for too long.
  bool WaitsForRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // Appends all that waits; none where what is left of it is to wait for room.
  std::optional<absl::Status> CommitLocked(bool stopping)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void BeginFailing(const absl::Status& error);
  void EndFailing();
  bool Hangs() const;
  // Lets nobody wait any longer for a storage that hangs.
  void RefuseAll();
  // What the thread does in one go; when to go on at the latest.
  absl::Time CommitAndRelease(bool stopping);

  Clock* const clock_;
  Journal* const journal_;
  JournalStorage* const storage_;
  const Where where_;
  const std::unique_ptr<Sleeper> sleeper_;

  // What of Journal::appended() is in the storage.
  std::atomic<uint64_t> committed_;
  std::atomic<bool> failing_{false};
  // When the storage began that for which others wait; 0: nothing.
  std::atomic<int64_t> busy_since_nanos_{0};

  // Held over an append.
  Mutex commit_mutex_;
  absl::Duration pause_ ABSL_GUARDED_BY(commit_mutex_) = kFirstPause;
  absl::Time next_try_ ABSL_GUARDED_BY(commit_mutex_) = absl::InfinitePast();
  absl::Time no_room_since_ ABSL_GUARDED_BY(commit_mutex_) = absl::InfiniteFuture();

  // Held over a change of `failing_` and what follows from it. After `commit_mutex_`.
  Mutex health_mutex_;
  std::function<void(bool)> listener_ ABSL_GUARDED_BY(health_mutex_);
  std::string failure_ ABSL_GUARDED_BY(health_mutex_);  // The last one that was logged.

  Mutex mutex_;
  Outputs left_ ABSL_GUARDED_BY(mutex_);       // For the next append,
  Outputs under_way_ ABSL_GUARDED_BY(mutex_);  // and for the present one.
  size_t enough_ ABSL_GUARDED_BY(mutex_) = 1;  // In `left_`, to wake the thread for.
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the thread's last append: what it let out, and how long it took.
  size_t last_outputs_ = 0;
  absl::Duration last_append_;
  std::thread thread_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_JOURNAL_COMMITTER_H_
