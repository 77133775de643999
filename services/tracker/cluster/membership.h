#ifndef CALLSLIP_TRACKER_CLUSTER_MEMBERSHIP_H_
#define CALLSLIP_TRACKER_CLUSTER_MEMBERSHIP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/cluster/cell_store.h"
#include "tracker/cluster/ownership.h"
#include "tracker/domain/journal/output_gate.h"

namespace callslip::tracker {

// One process of those that may own a cell: beats or looks on a thread of its own. Thread-safe.
class Membership {
 public:
  // `on_lost` is called, on that thread, when the cell was ours and is somebody else's: what this
  // process knows is worth nothing from then on. `clock` must outlive this.
  Membership(Clock* clock, std::unique_ptr<CellStore> store, const std::string& name,
             std::function<void()> on_lost);
  // Gives the cell up, if it is ours: by then nothing more is to be written.
  ~Membership();

  // The epoch under which this may write; none while the cell is somebody else's.
  std::optional<uint64_t> epoch() const;
  // Whether this may answer anybody.
  bool MayAnswer() const {
    return clock_->Now() <
           absl::FromUnixNanos(answers_until_nanos_.load(std::memory_order_acquire));
  }
  // See CellStore.
  bool has_copy() const { return store_->has_copy(); }
  // The owner, as it was seen last; empty where there is none.
  std::string owner() const;

 private:
  void Run();
  void Note();

  Clock* const clock_;
  const std::unique_ptr<CellStore> store_;
  const std::function<void()> on_lost_;
  const std::unique_ptr<Sleeper> sleeper_;
  Ownership ownership_;  // The thread's.
  std::atomic<int64_t> answers_until_nanos_{0};
  std::atomic<uint64_t> epoch_{0};  // 0: not ours.
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::string owner_ ABSL_GUARDED_BY(mutex_);
  std::string trouble_ ABSL_GUARDED_BY(mutex_);  // The last one that was logged.
  std::thread thread_;
};

// Lets out what a gate behind it does, or everything where there is none, as long as the cell is
// ours; else nothing. Both must outlive it.
class LeasedGate final : public OutputGate {
 public:
  LeasedGate(const Membership* membership, OutputGate* behind)
      : membership_(membership), behind_(behind) {}

  bool IsOpen() const override {
    return membership_->MayAnswer() && (behind_ == nullptr || behind_->IsOpen());
  }
  void Pass(Output output) override;
  void BeginBatch() override {
    if (behind_ != nullptr) behind_->BeginBatch();
  }
  void EndBatch() override {
    if (behind_ != nullptr) behind_->EndBatch();
  }

 private:
  const Membership* const membership_;
  OutputGate* const behind_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_CLUSTER_MEMBERSHIP_H_
